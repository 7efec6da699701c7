package agent

import (
	"errors"

	"roomgate/agent/claim"
	"roomgate/agent/cloudconfig"
	"roomgate/agent/cloudkey"
	"roomgate/agent/cloudlink"
	"roomgate/agent/cloudpart"
	"roomgate/agent/enrol"
	"roomgate/agent/mail"
	"roomgate/agent/message/book"
	"roomgate/agent/rule/engine"
	"roomgate/agent/schedule"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// forgetFormer makes the database of a backup that of another gateway. Letters,
// notifications, messages and events that wait are the former one's to send, and
// would come twice. This one forgets what the cloud has said to the former
// one: it hears revisions from the first, and belongs to nobody yet.
func forgetFormer(tx *store.Tx) error {
	var err error
	also := func(e error) { err = errors.Join(err, e) }
	also(mail.Forget(tx))
	also(webhook.Forget(tx))
	also(book.Forget(tx))
	also(engine.Forget(tx))
	also(cloudlink.AckedCursor.ToEnd(tx))
	also(cloudconfig.Forget(tx))
	also(cloudpart.Forget(tx))
	also(claim.Forget(tx))
	also(enrol.Forget(tx))
	also(cloudkey.Forget(tx))
	also(schedule.Forget(tx))
	return err
}
