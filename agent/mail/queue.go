package mail

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/auth"
	"roomgate/agent/loop"
	"roomgate/agent/problem"
	"roomgate/store"
)

const (
	// MaxLetters bounds the letters that wait for the relay, without decoys. Of one-time
	// passwords each address has at most one there, the last.
	MaxLetters = 300
	// codePrefix begins the place of a one-time password's letter.
	codePrefix = "code."
	// letterLife is how long other letters wait for the relay.
	letterLife = 3 * 24 * time.Hour
)

// mails holds the letters that wait for the relay, by place.
var mails = store.NewTable[storedMail]("mails")

// storedMail is a letter that waits.
type storedMail struct {
	ID     string        `json:"id"`
	Posted auth.Moment   `json:"posted"`
	Life   time.Duration `json:"life"`
	Sealed []byte        `json:"sealed"` // encrypted under the device secret
}

// sealedLetter is a letter as it is sealed.
type sealedLetter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Decoy   int    `json:"decoy"` // 1: nobody gets it
}

// Buckets names what the queue has in the store.
func Buckets() []string { return []string{mails.Bucket()} }

// Settings say which relay takes the letters.
type Settings struct {
	Address  string // host:port; empty: there is no relay
	Implicit bool   // TLS from the first byte, else STARTTLS
	Plain    bool   // no encryption: a relay on this machine
	From     string // as auth.ParseSender reads it
	Username string // empty: nobody signs in
	// Password is asked for before each letter, so that a new one counts.
	Password func() (string, error)
	CAFile   string // certificates to trust, in PEM; empty: those of the system
}

// Options are what a queue is opened with.
type Options struct {
	DB       *store.DB
	Keys     *auth.Keys // seal the letters
	Moment   func() auth.Moment
	Settings Settings
	// Dial reaches the relay; nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	Log  *slog.Logger
}

// Queue is where letters wait for the relay, sealed.
type Queue struct {
	db       *store.DB
	keys     *auth.Keys
	moment   func() auth.Moment
	settings Settings
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	log      *slog.Logger

	posted loop.Signal // holds a token when there is a new letter
	// failing is why the relay takes nothing now; nil: it does.
	failing atomic.Pointer[string]
	// decoys are those of this run, the oldest first. Only a transaction that writes uses them.
	decoys []decoy
}

// New prepares the queue; Run moves it.
func New(o Options) *Queue {
	return &Queue{db: o.DB, keys: o.Keys, moment: o.Moment, settings: o.Settings, dial: o.Dial, log: o.Log, posted: loop.NewSignal()}
}

// Configured says whether there is a relay.
func (q *Queue) Configured() bool { return q.settings.Address != "" }

// Wake has the queue looked at. Anybody who has committed what Put and PutCode
// wrote calls it.
func (q *Queue) Wake() { q.posted.Wake() }

// Post queues letters, all or none. They are stored when it returns nil. It is
// refused as problem.Unavailable without a relay, and while too many wait.
func (q *Queue) Post(ctx context.Context, letters ...Letter) error {
	if !q.Configured() {
		return problem.New(problem.Unavailable, "", "this gateway has no mail relay: set smtp.url")
	}
	err := q.db.Update(ctx, func(tx *store.Tx) error { return q.Put(tx, letters...) })
	if err == nil {
		q.Wake()
	}
	return err
}

// Put queues letters in a transaction that is under way. The queue gives them
// their IDs and dates. While too many wait it refuses them all as
// problem.Unavailable, and has written nothing.
func (q *Queue) Put(tx *store.Tx, letters ...Letter) error {
	if q.full(tx, len(letters)) {
		return errFull()
	}
	now := q.moment()
	for _, l := range letters {
		if _, err := q.put(tx, ulid.Make().String(), sealedLetter{To: l.To, Subject: l.Subject, Text: l.Text}, letterLife, now); err != nil {
			return err
		}
	}
	return nil
}

// PutCode queues the letter with a one-time password of an account, that was
// issued now, in a transaction that is under way. It replaces the one before,
// which that password made void. A decoy is stored like any other, nobody
// gets it, and it takes no place of another letter. While too many letters wait
// it is refused as problem.Unavailable.
func (q *Queue) PutCode(tx *store.Tx, account string, l Letter, isDecoy bool, now auth.Moment) error {
	place := codePrefix + account
	if _, err := mails.Get(tx, place); errors.Is(err, store.ErrNotFound) && q.full(tx, 1) {
		return errFull()
	}
	if err := q.dropDecoys(tx); err != nil {
		return err
	}
	sealed := sealedLetter{To: l.To, Subject: l.Subject, Text: l.Text}
	if isDecoy {
		sealed.Decoy = 1
	}
	id, err := q.put(tx, place, sealed, auth.CodeLife, now)
	if isDecoy {
		q.decoys = append(q.decoys, decoy{place, id})
	}
	return err
}

// put writes a letter at a place, instead of one that waits there already, and
// returns its id.
func (q *Queue) put(tx *store.Tx, place string, l sealedLetter, life time.Duration, now auth.Moment) (id string, err error) {
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	id = strings.ToLower(ulid.Make().String())
	return id, mails.Put(tx, place, storedMail{ID: id, Posted: now, Life: life, Sealed: q.keys.Seal(place, text)})
}

func errFull() error {
	return problem.New(problem.Unavailable, "", "%d letters wait for the mail relay, no more are taken: see the gateway's log, then try again", MaxLetters)
}

// Status is how the letters fare that wait for the relay.
type Status struct {
	Configured bool
	Waiting    int
	Oldest     time.Duration // the longest that one has waited, as far as that is known
	Failing    string        // why the relay takes nothing now; empty: it does
}

// Status says how the queue fares.
func (q *Queue) Status() Status {
	s := Status{Configured: q.Configured()}
	if failing := q.failing.Load(); failing != nil {
		s.Failing = *failing
	}
	now := q.moment()
	_ = q.db.View(func(tx *store.Tx) error {
		for _, m := range mails.All(tx) {
			s.Waiting++
			if age, known := now.Since(m.Posted); known {
				s.Oldest = max(s.Oldest, age)
			}
		}
		return nil
	})
	return s
}

// Forget drops all letters, for a database that becomes that of another
// gateway: they are the old one's to send.
func Forget(tx *store.Tx) error {
	var err error
	for place := range mails.All(tx) {
		err = errors.Join(err, mails.Delete(tx, place))
	}
	return err
}
