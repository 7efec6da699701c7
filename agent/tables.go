package agent

import (
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/booking"
	"roomgate/agent/claim"
	"roomgate/agent/clock"
	"roomgate/agent/eventlog"
	"roomgate/agent/message"
	rules "roomgate/agent/rule"
	"roomgate/agent/webhook"
	"roomgate/store"
)

// Schema is the version of everything below. Raising it needs a migration.
const Schema = 1

// The whole of what the building stores, on one screen.
var (
	// Those of other packages:
	//   eventlog  the log, and the cursors of those who follow it
	//   claim     "gateway-claim": whom the gateway belongs to, in one row

	// clockRow holds what the clock has to know after a restart, in one row.
	clockRow = store.NewTable[clock.Memory]("clock")
	// readings is the last known state by device id, for a restart.
	readings = store.NewTable[[]storedReading]("readings")
	// commands remembers each command and its receipt by id: see commandBook.
	commands = store.NewTable[storedCommand]("commands")
	// commandAges orders the ids of commands by origin, oldest first, to forget
	// them. Those of the cloud follow what an earlier version has stored of all.
	commandAges = [...]store.Queue[string]{
		fromUs:     store.NewQueue[string]("own-command-ages", 2*maxCommands, store.Refuse),
		fromCaller: store.NewQueue[string]("caller-command-ages", 2*maxCommands, store.Refuse),
		fromCloud:  store.NewQueue[string]("command-ages", 2*maxCommands, store.Refuse),
	}
	// openCommands holds the ids of accepted commands without a final receipt.
	openCommands = store.NewTable[bool]("open-commands")
	// bookings holds every booking by id.
	bookings = store.NewTable[storedBooking]("bookings")
	// plans holds what is set for a space at run time, by its id.
	plans = store.NewTable[storedPlan]("plans")
	// additions holds the spaces and devices that were made or changed at run time.
	additions = store.NewTable[storedAddition]("additions")
	// cloudConfigs holds which keys, codes, rules and users are the cloud's.
	cloudConfigs = store.NewTable[storedConfig]("cloud-config")
	// deviceSettings holds what was set of a device at run time, by its id.
	deviceSettings = store.NewTable[DeviceSettings]("device-settings")
	// unlockCodes holds the codes of doors by space and id, hashed.
	unlockCodes = store.NewTable[storedUnlockCode]("unlock-codes")
	// edgeDevices holds the boards and displays that claimed a space, by id.
	edgeDevices = store.NewTable[storedEdge]("edge-devices")
	// keypads holds what wrong codes have been spent at a lock, by its id.
	keypads = store.NewTable[auth.Budget]("keypads")
	// apiKeys holds the API keys by id, hashed.
	apiKeys = store.NewTable[storedKey]("api-keys")
	// webhooks holds the webhooks by id, with the secrets that they sign with, sealed.
	webhooks = store.NewTable[storedWebhook]("webhooks")
	// deliveries holds what webhooks were and will be told, by webhook and
	// delivery id. Of one webhook at most maxWaiting wait, then the oldest goes,
	// and keepDelivered are kept for the log; of the building maxDeliveries, and
	// at most a quarter of store.max_size.
	deliveries = store.NewTable[webhook.Delivery]("deliveries")
	// organizations holds them by id.
	organizations = store.NewTable[Organization]("organizations")
	// userMarks holds what was decided here about users, by id.
	userMarks = store.NewTable[storedUser]("users")
	// accounts holds how the addresses that somebody typed stand with their
	// one-time passwords, by a keyed hash. At most maxAccounts; then others wait.
	accounts = store.NewTable[auth.Account]("accounts")
	// mails holds the letters that wait for the relay, by place. At most
	// maxLetters; then no more are taken.
	mails = store.NewTable[storedMail]("mails")
	// messages holds what was sent to mobile devices by id: keepMessages and a few,
	// of which maxQueuedMessages wait for the push gateway at most.
	messages = store.NewTable[storedMessage]("messages")
	// signingKeys holds the ids of the keys that sign tokens, newest last.
	signingKeys = store.NewTable[[]storedSigningKey]("signing-keys")
	// ruleRows holds the rules by id.
	ruleRows = store.NewTable[rules.Rule]("rules")
	// ruleRuns holds the last rules.KeepRuns runs of each rule, by its id and a
	// slot that is used again.
	ruleRuns = store.NewTable[rules.Run]("rule-runs")
	// openRuns holds the keys of runs whose orders may be under way.
	openRuns = store.NewTable[bool]("open-rule-runs")
)

type storedReading struct {
	Sub        string         `json:"sub,omitempty"`
	Value      string         `json:"value"`
	Status     string         `json:"status"`
	ObservedAt time.Time      `json:"observed_at"`
	Source     string         `json:"source,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
}

type storedCommand struct {
	Command Command `json:"command"`
	Receipt Receipt `json:"receipt"`
	// Lived is how many seconds the gateway had lived through by then; 0: an
	// earlier version has stored it.
	Lived clock.Lived `json:"lived_s,omitempty"`
}

// webhookCursor is how far the log has been turned into deliveries.
const webhookCursor eventlog.Cursor = "webhooks"

// storedWebhook is a webhook with what is never shown of it. What it signs with
// is encrypted under the device secret: a copy of the database alone forges no
// notification. So a backup without device.secret cannot sign either; its
// webhooks are disabled until their secrets are rotated.
type storedWebhook struct {
	webhook.Webhook
	Secrets webhook.Secrets  `json:"-"` // empty: they cannot be read
	Sealed  []byte           `json:"sealed,omitempty"`
	Plain   *webhook.Secrets `json:"secrets,omitempty"` // as an earlier version has stored them
}

type storedKey struct {
	Key
	Hash []byte `json:"hash"` // SHA-256 of the secret, which has 256 random bits
}

// storedUser is what was decided here about a user.
type storedUser struct {
	Disabled   bool   `json:"disabled,omitempty"`
	Generation uint64 `json:"generation,omitempty"` // raised to end his tokens
}

// storedMail is a letter that waits.
type storedMail struct {
	ID     string        `json:"id"`
	Posted auth.Moment   `json:"posted"`
	Life   time.Duration `json:"life"`
	Sealed []byte        `json:"sealed"` // encrypted under the device secret
}

// storedMessage is a message with how it goes to the push gateway.
type storedMessage struct {
	message.Message
	Sequence uint64          `json:"sequence"` // of its row in the log, by which it goes up
	Push     message.Channel `json:"push"`
	Topic    string          `json:"topic,omitempty"`
	Posted   auth.Moment     `json:"posted"`
	Life     time.Duration   `json:"life"`
	Key      string          `json:"key,omitempty"` // of the request
	Print    string          `json:"print,omitempty"`
}

// clockKey is the one row of clockRow.
const clockKey = "clock"

// signingRing is the one row of signingKeys.
const signingRing = "ring"

// storedSigningKey names a key that signs tokens.
type storedSigningKey struct {
	ID    string      `json:"id"`
	Since auth.Moment `json:"since"`
}

// storedBooking is a booking with the steps that were taken.
type storedBooking struct {
	booking.Booking
	Marks booking.Marks `json:"marks"`
	// Over is when it was last stored as over; 0: it is not, or an earlier version did.
	Over clock.Lived `json:"over,omitempty"`
}

// storedPlan is what is set for a space over its configuration.
type storedPlan struct {
	// Revision is the last of the cloud's schedule that was applied.
	Revision     uint64         `json:"revision,omitempty"`
	Holds        []booking.Hold `json:"holds,omitempty"`
	Availability Availability   `json:"availability"`
	Calendar     *string        `json:"calendar,omitempty"` // URL; nil: as configured
	FeedHash     []byte         `json:"feed_hash,omitempty"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
}

// buckets names all of the tables and queues above, and those of other packages.
func buckets() []string {
	return append(eventlog.Buckets(), claim.Table, readings.Bucket(), commands.Bucket(), openCommands.Bucket(), clockRow.Bucket(),
		commandAges[fromUs].Bucket(), commandAges[fromCaller].Bucket(), commandAges[fromCloud].Bucket(),
		bookings.Bucket(), plans.Bucket(), additions.Bucket(), cloudConfigs.Bucket(), deviceSettings.Bucket(),
		unlockCodes.Bucket(), edgeDevices.Bucket(), keypads.Bucket(), apiKeys.Bucket(), webhooks.Bucket(), deliveries.Bucket(),
		organizations.Bucket(), userMarks.Bucket(), accounts.Bucket(), mails.Bucket(), messages.Bucket(), signingKeys.Bucket(),
		ruleRows.Bucket(), ruleRuns.Bucket(), openRuns.Bucket())
}
