package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"roomgate/agent/access"
	"roomgate/agent/cloudcommand"
	"roomgate/agent/device"
	"roomgate/agent/doorsign"
	"roomgate/agent/eventlog"
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
	SigningKeys *[]doorsign.Key `json:"signing_keys"`
	// Update is the release that the gateway is to have.
	Update *downUpdate `json:"update"`
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

// storedConfig is what of the building is the cloud's. Its spaces and devices
// are among the overrides of the site.
type storedConfig struct {
	Revision uint64 `json:"revision"`
	Message  string `json:"message"` // that brought it
	// Signed is the SHA-256 of the last that was signed, and SignedRevision its
	// revision; empty: none was. They stay when another one is applied.
	Signed         string     `json:"signed,omitempty"`
	SignedRevision uint64     `json:"signed_revision,omitempty"`
	Keys           []string   `json:"keys,omitempty"`
	Codes          []string   `json:"codes,omitempty"` // by their keys in the table
	Rules          []string   `json:"rules,omitempty"`
	Users          []downUser `json:"users,omitempty"`
	Update         string     `json:"update,omitempty"` // the URL of a bundle
	// Again says that the same revision is applied once more: a repair may have lost what it brought.
	Again bool `json:"again,omitempty"`
	// Refused is the SHA-256 of the configuration that was refused last and why.
	Refused string `json:"refused,omitempty"`
}

// currentConfig is the one row of cloudConfigs.
const currentConfig = "current"

// take applies what the cloud manages, whole or not at all, and answers
// with a receipt. The broker keeps the message, so it comes with each
// connection: once applied or refused it is not answered again.
func (m *Managed) take(ctx context.Context, e cloud.Envelope) error {
	d, err := readConfig(e)
	if err != nil {
		return m.refuse(ctx, e, cloudcommand.AsError(err))
	}
	turn, err := m.agent.Site.Turn(ctx)
	if err != nil {
		return err
	}
	defer turn.End()
	have, err := m.agent.storedConfig()
	other := e.SignedBy != "" && signedPrint(e) != have.Signed // of which a revision has one
	last, why := have.line(e, m.agent.Claim.Signers().Unsigned())
	switch {
	case err != nil:
		return err
	case why != nil:
		return m.refuse(ctx, e, why)
	case d.Revision == have.Revision && e.ID == have.Message && !have.Again && !other:
		return nil
	case d.Revision < last, d.Revision == last && (!have.Again || other):
		return m.refuse(ctx, e, problem.New(problem.Conflict, "revision", "is %d, and %d is in force: send a later one", d.Revision, last))
	}
	c := &configuring{agent: m.agent, turn: turn, ctx: ctx, down: d, kept: have, by: e.Source, signed: e.SignedBy != ""}
	err = c.apply(e)
	if refusal := new(problem.Error); errors.As(err, &refusal) && refusal.Code != problem.Full && refusal.Code != problem.Internal { // it would not be better the second time
		return m.refuse(ctx, e, refusal)
	}
	return err
}

// refuse answers a configuration that is not applied. One that the broker
// keeps comes with each connection: it is tried again, as the building may have
// changed, and the same refusal is told once.
func (m *Managed) refuse(ctx context.Context, e cloud.Envelope, why *problem.Error) error {
	sum := sha256.Sum256([]byte(e.ID + "\x00" + why.Error() + "\x00" + string(e.Data)))
	print := hex.EncodeToString(sum[:])
	have, err := m.agent.storedConfig()
	if err != nil || e.Retained && have.Refused == print {
		return err
	}
	return cloudcommand.RefuseMessage(ctx, m.agent.Commands, e, why, func(tx *store.Tx) error {
		have.Refused = print
		return cloudConfigs.Put(tx, currentConfig, have)
	})
}

// readConfig decodes the data of down/config.
func readConfig(e cloud.Envelope) (d downConfig, err error) {
	if err := e.DataInto(&d); err != nil {
		return d, cloudcommand.AsError(err)
	}
	if d.Revision == 0 {
		return d, problem.New(problem.Invalid, "revision", "is missing: want 1 or more")
	}
	return d, nil
}

func (a *Agent) storedConfig() (c storedConfig, err error) {
	err = a.db.View(func(tx *store.Tx) (err error) { c, err = cloudConfigs.Get(tx, currentConfig); return err })
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return c, err
}

// configuring is a configuration of the cloud that is checked and not yet made:
// each part adds its stages.
type configuring struct {
	agent *Agent
	turn  *site.Turn
	ctx   context.Context
	down  downConfig
	kept  storedConfig
	by    string
	next  *site.Index // as it will be

	signed  bool
	opening string // the first part that may let somebody in; empty: none does

	stages []eventlog.Stage
}

// apply checks every part, stores all of them with the receipt in one transaction,
// and only then lets them take effect.
func (c *configuring) apply(e cloud.Envelope) error {
	defer c.release()
	for _, part := range []func() error{c.site, c.permissions, c.users, c.keys, c.codes, c.rules, c.signers, c.update} {
		if err := part(); err != nil {
			return err
		}
	}
	a := c.agent
	if err := a.Claim.Signers().Part(e, c.opening); err != nil {
		return err
	}
	c.kept.Revision, c.kept.Message, c.kept.Again = c.down.Revision, e.ID, false
	if e.SignedBy != "" {
		c.kept.Signed, c.kept.SignedRevision = signedPrint(e), c.down.Revision
	}
	stages := append(c.stages, eventlog.Stage{Write: func(tx *store.Tx) error {
		if err := cloudConfigs.Put(tx, currentConfig, c.kept); err != nil {
			return err
		}
		return a.Commands.PushReceipt(tx, device.Command{Via: device.ViaMQTT}, done(e.ID))
	}})
	c.stages = nil // Commit releases them
	if err := a.Events.Commit(c.ctx, stages...); err != nil {
		return err
	}
	a.options.Log.Info("a configuration of the cloud was applied", "revision", c.down.Revision)
	return a.Bookings.NoteNewSpaces(c.ctx)
}

// line is the revision that the next one has to be later than. Where signatures are
// wanted those that are signed count by themselves, and once there is one nothing
// else counts: who may say a revision unsigned could take the highest, and no key
// or code could be brought or taken away any more.
func (c storedConfig) line(e cloud.Envelope, unsigned bool) (last uint64, why *problem.Error) {
	switch {
	case unsigned, c.Signed == "" && e.SignedBy == "":
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
