package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

const (
	// CodeLife is how long a one-time password can be used.
	CodeLife = 10 * time.Minute
	// CodeTries is how often one may be tried.
	CodeTries = 5
	codeSize  = 6 // digits
)

// CodeRate is how many one-time passwords an address gets from one network, and
// StrangeRate how many from all networks together from which its owner has not
// signed in. With CodeTries for each of them who guesses day and night has 1 chance
// in 2900 on the first day and in 4000 on any other, and its owner 48 letters. Where
// its owner has signed in, others behind his network have 1 in 4000 of their own.
var (
	CodeRate    = Rate{Burst: 5, Every: 30 * time.Minute}
	StrangeRate = Rate{Burst: 20, Every: 30 * time.Minute}
)

var codes = big.NewInt(1_000_000)

// NewCode makes a one-time password of six random digits.
func NewCode() string {
	n, err := rand.Int(rand.Reader, codes)
	if err != nil { // never (crypto/rand)
		panic(err)
	}
	return fmt.Sprintf("%0*d", codeSize, n)
}

// ParseCode reads a one-time password as a person types it: digits, perhaps
// with space around or in the middle.
func ParseCode(text string) (code string, ok bool) {
	if len(text) > 4*codeSize {
		return "", false
	}
	code = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	if len(code) != codeSize {
		return "", false
	}
	for _, c := range []byte(code) {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return code, true
}

// Account is how an address stands with its one-time passwords, or how it stands
// with those of one network. It is kept for every address that somebody typed,
// whether it belongs to a user or not, so that no answer and no delay tells which.
type Account struct {
	Codes  Budget `json:"c,omitzero"` // spent on one-time passwords
	Hash   []byte `json:"h,omitempty"`
	Issued Moment `json:"i,omitzero"`
	Tries  int    `json:"t,omitempty"` // of the one under way

	Of     string   `json:"o,omitempty"` // the address, in the row of one of its networks
	From   string   `json:"f,omitempty"` // the network that asked first
	Proven []string `json:"p,omitempty"` // networks from which its owner has signed in, the last one first
}

// Issue takes the hash of a new one-time password, which is the only one from
// now on. If the address had too many it says after which time to ask again.
func (a *Account) Issue(hash []byte, now Moment) (wait time.Duration, ok bool) {
	if wait, ok = a.Codes.Take(CodeRate, now); ok {
		a.Hash, a.Issued, a.Tries = hash, now, 0
	}
	return wait, ok
}

// maxProven bounds the networks of an address that are remembered.
const maxProven = 4

// Prove notes that the owner has signed in from a network.
func (a *Account) Prove(from string) {
	a.Proven = slices.Insert(slices.DeleteFunc(a.Proven, func(p string) bool { return p == from }), 0, from)
	a.Proven = a.Proven[:min(len(a.Proven), maxProven)]
}

// Try says whether hash is that of the one-time password under way. It can be
// right once, and wrong CodeTries times. Who was right has shown that the
// mailbox is his: his budget is whole again.
func (a *Account) Try(hash []byte, now Moment) bool {
	right := hmac.Equal(hash, a.Hash)
	if !a.Live(now) {
		a.drop()
		return false
	}
	if right {
		*a = Account{Of: a.Of, From: a.From, Proven: a.Proven}
		return true
	}
	if a.Tries++; a.Tries >= CodeTries {
		a.drop()
	}
	return false
}

// Idle says whether the account may be forgotten.
func (a *Account) Idle(now Moment) bool { return !a.Live(now) && a.Codes.Whole(CodeRate, now) }

// Anchor lets the budget count from now if its age cannot be told, as after a
// restart without a clock, and says whether it did.
func (a *Account) Anchor(now Moment) bool {
	if _, known := now.Since(a.Codes.At); known {
		return false
	}
	a.Codes.At = now
	return true
}

// Live says whether a one-time password is under way.
func (a *Account) Live(now Moment) bool {
	return len(a.Hash) > 0 && now.Within(a.Issued, CodeLife)
}

func (a *Account) drop() { a.Hash, a.Issued, a.Tries = nil, Moment{}, 0 }
