// Package cloudconfig takes the configuration that the cloud sends: it applies it
// whole or not at all, and stores which parts of the building the cloud manages.
package cloudconfig

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/cloudkey"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/printable"
	"roomgate/agent/problem"
	rules "roomgate/agent/rule"
	"roomgate/agent/site"
	"roomgate/agent/unlock"
	"roomgate/cloud"
	"roomgate/store"
)

// downConfig is the data of down/config: what the cloud manages of a gateway. A
// part that is there is the whole of its kind that is the cloud's: what it does
// not name any more goes. A part that is not there stays as it is. What the
// configuration file says and what was made in the building stays in any case,
// but a space or device of the same id gets what the cloud names of it.
type downConfig struct {
	Revision uint64 `json:"revision"`
	// Spaces and Devices have the keys of the configuration file; a device
	// names its space as meeting_space_id.
	Spaces      *[]json.RawMessage `json:"spaces"`
	Devices     *[]json.RawMessage `json:"devices"`
	Permissions *[]downPermission  `json:"permissions"`
	Users       *[]downUser        `json:"users"`
	Keys        *[]access.KeySpec  `json:"keys"`
	UnlockCodes *[]unlock.CodeSpec `json:"unlock_codes"`
	Rules       *[]downRule        `json:"rules"`
	// SigningKeys are whose signatures count from now on; they come only signed.
	SigningKeys *[]cloudkey.Key `json:"signing_keys"`
	// Update is the release that the gateway is to have.
	Update *downUpdate `json:"update"`
	// Spread is what the cloud wants for cloud.reconnect_spread, in seconds up to 60;
	// 0: what is configured.
	Spread *int `json:"reconnect_spread_s"`
}

// downUpdate says where a signed bundle is.
type downUpdate struct {
	URL string `json:"url"` // https; empty: none
}

// downRule is a rule, with its id.
type downRule struct {
	rules.Rule
	Enabled *bool `json:"enabled"` // true without
}

// downPermission says who may give a command to a device.
type downPermission struct {
	DeviceID string `json:"device_id"`
	device.Permission
}

// downUser is a person who may sign in.
type downUser struct {
	ID             string `json:"id"`
	Email          string `json:"email"`
	Name           string `json:"name"`
	Role           string `json:"role"` // member without one
	OrganizationID string `json:"organization_id"`
	PushTopic      string `json:"push_topic"`
	Enabled        *bool  `json:"enabled"` // true without
}

// Take applies what the cloud manages, whole or not at all, and answers
// with a receipt; the refusal is what it was answered with. The broker keeps the message,
// so it comes with each connection: once applied or refused it is not answered again.
func (m *Configuration) Take(ctx context.Context, e cloud.Envelope) (refusal *problem.Error, err error) {
	d, err := readConfig(e)
	if err != nil {
		return cloudcommand.AsError(err), m.Refuse(ctx, e, cloudcommand.AsError(err))
	}
	turn, err := m.o.Site.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.End()
	have, err := stored(m.o.DB, m.o.Keys)
	other := e.SignedBy != "" && signedPrint(e) != have.Signed // of which a revision has one
	last, why := have.line(e, m.o.Signers.UnsignedAllowed())
	switch {
	case err != nil:
		return nil, err
	case why != nil:
		return why, m.Refuse(ctx, e, why)
	case d.Revision == have.Revision && e.ID == have.Message && !have.Again && !other:
		return nil, nil
	case d.Revision < last, d.Revision == last && (!have.Again || other):
		refusal = problem.New(problem.Conflict, "revision", "is %d, and %d is in force: send a later one", d.Revision, last)
		return refusal, m.Refuse(ctx, e, refusal)
	}
	if why = m.budget.Take(e); why != nil {
		return why, m.Refuse(ctx, e, why)
	}
	c := &configuring{o: m.o, configuration: m, turn: turn, ctx: ctx, down: d, kept: have, by: e.Source, signed: e.SignedBy != ""}
	err = c.apply(e)
	if refusal = new(problem.Error); errors.As(err, &refusal) && !refusal.Code.Unstored() { // it would not be better the second time
		return refusal, m.Refuse(ctx, e, refusal)
	}
	return nil, err
}

// Barred refuses what cannot count because it is not signed, whatever it says.
func (m *Configuration) Barred(e cloud.Envelope) (refusal *problem.Error, err error) {
	have, err := stored(m.o.DB, m.o.Keys)
	if err != nil {
		return nil, err
	}
	_, refusal = have.line(e, m.o.Signers.UnsignedAllowed())
	return refusal, nil
}

// Refuse answers a configuration that is not applied. One that the broker
// keeps comes with each connection: it is tried again, as the building may have
// changed, and the same refusal is told once.
func (m *Configuration) Refuse(ctx context.Context, e cloud.Envelope, why *problem.Error) error {
	reason := why.Error()
	if why.Code == problem.Busy {
		reason = string(why.Code) // it says how long to wait, which is never the same
	}
	sum := sha256.Sum256([]byte(e.ID + "\x00" + reason + "\x00" + string(e.Data)))
	print, told := binary.BigEndian.Uint64(sum[:]), uint64(0)
	err := m.o.DB.View(func(tx *store.Tx) (err error) { told, _, err = refusedLast.Get(tx); return err })
	if err != nil || e.Retained && told == print {
		return err
	}
	return cloudcommand.RefuseMessage(ctx, m.o.Commands, e, why, func(tx *store.Tx) error {
		return refusedLast.Put(tx, print)
	})
}

// readConfig decodes the data of down/config.
func readConfig(e cloud.Envelope) (d downConfig, err error) {
	if err := e.DataInto(&d); err != nil {
		return d, cloudcommand.AsError(err)
	}
	if field, ok := printable.JSON(e.Data); !ok {
		return d, problem.New(problem.Invalid, field, "has control characters: want text without them, and without marks that turn its direction")
	}
	if d.Revision == 0 {
		return d, problem.New(problem.Invalid, "revision", "is missing: want 1 or more")
	}
	return d, nil
}

// configuring is a configuration of the cloud that is checked and not yet made:
// each part adds its stages.
type configuring struct {
	o             Options
	configuration *Configuration
	turn          *site.Turn
	ctx           context.Context
	down          downConfig
	kept          storedConfig
	by            string
	next          *site.Index // as it will be

	signed  bool
	opening string // the first part that may let somebody in; empty: none does

	stages []eventlog.Stage
}

// apply checks every part, stores all of them with the receipt in one transaction,
// and only then lets them take effect.
func (c *configuring) apply(e cloud.Envelope) error {
	defer c.release()
	for _, part := range []func() error{c.site, c.permissions, c.users, c.keys, c.codes, c.rules, c.signers, c.update, c.spread} {
		if err := part(); err != nil {
			return err
		}
	}
	if err := c.o.Signers.Part(e, c.opening); err != nil {
		return err
	}
	if c.kept.Doubted == nil {
		doubted := c.kept.doubted() // before what it goes by
		c.kept.Doubted = &doubted
	}
	c.kept.Revision, c.kept.Message, c.kept.Again = c.down.Revision, e.ID, false
	if e.SignedBy != "" {
		c.kept.Signed, c.kept.SignedRevision = signedPrint(e), c.down.Revision
	}
	stages := append(c.stages, eventlog.Stage{Write: func(tx *store.Tx) error {
		if err := c.kept.put(tx, c.o.Keys); err != nil {
			return err
		}
		if err := Changed(tx, c.o.Events, map[string]any{"by": e.Source, "revision": c.down.Revision, "message": e.ID, "signed_by": e.SignedBy}); err != nil {
			return err
		}
		return cloudcommand.PushDone(tx, c.o.Commands, "", e)
	}, Show: func() { c.configuration.show(c.kept) }})
	c.stages = nil // Commit releases them
	if err := c.o.Events.Commit(c.ctx, stages...); err != nil {
		return err
	}
	c.o.Log.Info("a configuration of the cloud was applied", "revision", c.down.Revision)
	return c.o.Bookings.NoteNewSpaces(c.ctx)
}

// line is the revision that the next one has to be later than. Where signatures are
// wanted those that are signed count by themselves, and once there is one nothing
// else counts: who may say a revision unsigned could take the highest, and no key
// or code could be brought or taken away any more.
func (c storedConfig) line(e cloud.Envelope, unsignedAllowed bool) (last uint64, why *problem.Error) {
	switch {
	case unsignedAllowed, c.Signed == "" && e.SignedBy == "":
		return c.Revision, nil
	case e.SignedBy == "":
		return 0, problem.New(problem.Forbidden, "", "the configuration is not signed, and one before it was: sign it with a key that this gateway holds (doors.unsigned)")
	}
	return c.SignedRevision, nil
}

// signedPrint tells one signed configuration from another.
func signedPrint(e cloud.Envelope) string {
	sum := sha256.Sum256([]byte(e.ID + "\x00" + string(e.Data)))
	return hex.EncodeToString(sum[:])
}

// opens notes that a part may let somebody in, now or later: it has to be signed.
func (c *configuring) opens(part string, may bool) {
	if may && c.opening == "" {
		c.opening = part
	}
}

// release lets go of what was checked and is not made, the last first.
func (c *configuring) release() {
	for _, s := range slices.Backward(c.stages) {
		if s.Release != nil {
			s.Release()
		}
	}
	c.stages = nil
}

// add adds what a noun makes of its part.
func (c *configuring) add(s eventlog.Stage) { c.stages = append(c.stages, s) }

// under names the part in the refusal of a noun, whose field begins with the
// place of the item if there is one.
func under(part string, err error) error {
	e := *cloudcommand.AsError(err)
	if e.Code == problem.Internal {
		return err
	}
	e.Field = part + e.Field
	return &e
}
