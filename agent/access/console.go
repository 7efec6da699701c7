package access

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/cloud/guest"
	"roomgate/store"
)

const (
	// KindConsole is somebody who came to the console by a link from the gateway itself.
	KindConsole = "console"
	// consoleCodeLife is how long such a link can be used, and consoleCodeTries how
	// often a network address may send a wrong code before it is told to wait. A right one
	// counts also then, see guest.Codes.
	consoleCodeLife, consoleCodeTries = 10 * time.Minute, 5
	// consoleLife is how long he may do everything then.
	consoleLife = 8 * time.Hour
)

// consoleCode is a code for the console. It is kept in memory only, with its hash: it
// is good for minutes, and a restart ends it.
type consoleCode struct {
	hash  []byte
	until time.Time // by the monotonic clock; zero: as long as the gateway runs, any number of times
}

// ConsoleCodes are the codes by which somebody comes to the console without mail or
// internet. They may be used by many.
type ConsoleCodes struct {
	db      *store.DB
	keys    *auth.Keys
	log     *slog.Logger
	signing *signing
	tried   *guest.Codes

	mu            sync.Mutex
	once, lasting consoleCode
}

func newConsoleCodes(o Options, s *signing) *ConsoleCodes {
	return &ConsoleCodes{db: o.DB, keys: o.Keys, log: o.Log, signing: s, tried: guest.NewCodes(consoleCodeTries, consoleCodeLife, consoleCodeLife)}
}

// New makes a code that lets somebody into the console once, within the time that is
// returned. The one before ends.
func (x *ConsoleCodes) New(ctx context.Context) (code string, life time.Duration, err error) {
	if err := x.tell(ctx, nil); err != nil {
		return "", 0, err
	}
	code = auth.NewTyped()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.once = consoleCode{hash: x.hash(code), until: time.Now().Add(consoleCodeLife)}
	return code, consoleCodeLife, nil
}

// Lasting makes a code that lets anybody in, any number of times, until the gateway ends:
// that of a demo.
func (x *ConsoleCodes) Lasting() (code string) {
	code = auth.NewTyped()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lasting = consoleCode{hash: x.hash(code)}
	return code
}

// tell writes the audit event of a context: there is nothing else to store. The console is
// how people find out why a disk takes nothing, so such a disk keeps nobody out.
func (x *ConsoleCodes) tell(ctx context.Context, more map[string]any) error {
	err := x.db.Update(ctx, func(tx *store.Tx) error { return eventlog.Audit(ctx, tx, more) })
	if store.Unstored(err) {
		x.log.Error("the log cannot take that somebody asked for the console: see roomgate doctor", "error", err)
		return nil
	}
	return err
}

func (x *ConsoleCodes) hash(code string) []byte {
	return x.keys.Hash("console", auth.TypedText(code))
}

// SignIn returns the token of an admin of the building for a code. Whatever is wrong, the answer is the same.
func (x *ConsoleCodes) SignIn(ctx context.Context, code string, from netip.Prefix) (token string, expires time.Time, err error) {
	now := time.Now()
	wait, look := x.tried.Take(from, now)
	right := look && x.use(x.hash(code), now)
	if !right && wait > 0 {
		return "", expires, problem.TooOften("too many wrong codes came from this network address", wait)
	}
	if !right {
		return "", expires, problem.New(problem.Forbidden, "code", "is wrong, used or too old: have roomgate console print a new link")
	}
	x.tried.Return(from, now)
	id := "console-" + strings.ToLower(rand.Text()[:10])
	if err := x.tell(ctx, map[string]any{"by": "console", "by_id": id, "by_kind": KindConsole, "address": addressText(from)}); err != nil {
		return "", expires, err
	}
	token, expires, err = x.signing.sign(auth.Token{Kind: KindConsole, Subject: id, Name: "console", Permissions: auth.All, Admin: true, Life: consoleLife})
	if err == nil {
		x.log.Info("somebody signed in to the console", "session", id)
	}
	return token, expires, err
}

// addressText is where somebody is: an address, or the network that he has to himself.
func addressText(from netip.Prefix) string {
	if from.IsSingleIP() {
		return from.Addr().String()
	}
	return from.String()
}

// use says whether a code is good, and takes it out unless it lasts.
func (x *ConsoleCodes) use(hash []byte, now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if subtle.ConstantTimeCompare(hash, x.lasting.hash) == 1 {
		return true
	}
	if subtle.ConstantTimeCompare(hash, x.once.hash) != 1 || !now.Before(x.once.until) {
		return false
	}
	x.once = consoleCode{}
	return true
}

// consolePrincipal is who comes with a token of [ConsoleCodes.SignIn].
func consolePrincipal(t auth.Token) Principal {
	return Principal{ID: t.Subject, Name: t.Name, Kind: KindConsole, Permissions: auth.All, Admin: true}
}
