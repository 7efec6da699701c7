package unlock

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/problem"
	"roomgate/drivers"
)

const (
	// maxCodes is how many codes a space has at most. When there are so
	// many, those that are over for more than a day go first.
	maxCodes = 500
	// Codes have so many digits; those that are made here madeDigits.
	minDigits, maxDigits, madeDigits = 4, 10, 6
	// maxChance is how likely one guess may be right, all codes of a space
	// together: ten of four digits, a hundred of five, or any 500 of six.
	maxChance = 1e-3
)

// Code is a code for the keypad of a space's door, without its digits.
type Code struct {
	ID      string `json:"id"`
	SpaceID string `json:"meeting_space_id"`
	Name    string `json:"name"` // unique in the space
	Digits  int    `json:"digits"`
	// BookingID binds the code to a booking: it holds from when check-in opens
	// until the end, while the booking is live.
	BookingID string `json:"booking_id,omitempty"`
	// From and Until, exclusive, are when it holds; zero is always.
	From     time.Time `json:"valid_from,omitzero"`
	Until    time.Time `json:"valid_until,omitzero"`
	Created  time.Time `json:"created_at"`
	Updated  time.Time `json:"updated_at"`
	LastUsed time.Time `json:"last_used_at,omitzero"`
}

// Request is a code as it shall be. ID or else Name finds the one that is
// replaced; there is none of that name: it is a new one. Code is its digits;
// empty: those that it has, or for a new one some that are made.
type Request struct {
	ID, Name    string
	Code        drivers.Secret
	From, Until time.Time
	BookingID   string
}

// storedCode is a code with its hash.
//
// The hash is an HMAC under a secret that is not in the database, and not a
// slow hash such as Argon2id: a code of six digits has a million values, which
// no slow hash protects from who has the card; a keypad would wait for one slow
// hash per code of the space; and anybody who types at a door could keep a small
// board busy. Guessing at the door is met by the limit on tries.
type storedCode struct {
	Code
	Hash []byte `json:"hash"`
	Mark string `json:"mark"` // of the secret that it was made with
	// Window is when its booking was to be as the code was set; zero: of none, or an earlier version did.
	Window booking.Interval `json:"window,omitzero"`
	// Of is whose the space was as the code was set in the building; empty: nobody's, or an earlier version did, or the cloud.
	Of string `json:"of,omitempty"`
}

func (c *storedCode) key() string { return c.SpaceID + "/" + c.ID }

// codes are those of a space. They are never changed.
type codes struct {
	all    []*storedCode // oldest first
	byHash map[[sha256.Size]byte]*storedCode
}

func newCodes(all []*storedCode) *codes {
	slices.SortFunc(all, func(a, b *storedCode) int { return cmp.Compare(a.ID, b.ID) })
	c := &codes{all, map[[sha256.Size]byte]*storedCode{}}
	for _, one := range all {
		c.byHash[[sha256.Size]byte(one.Hash)] = one
	}
	return c
}

func (c *codes) find(is func(*storedCode) bool) *storedCode {
	if i := slices.IndexFunc(c.all, is); i >= 0 {
		return c.all[i]
	}
	return nil
}

// with is the codes with one put in or, if it is nil, without old.
func (c *codes) with(old, one *storedCode) *codes {
	all := slices.DeleteFunc(slices.Clone(c.all), func(x *storedCode) bool { return x == old })
	if one != nil {
		all = append(all, one)
	}
	return newCodes(all)
}

// replaced is the code that a request replaces; nil: none.
func (c *codes) replaced(r Request) (*storedCode, error) {
	named := c.find(func(x *storedCode) bool { return strings.EqualFold(x.Name, r.Name) })
	if r.ID == "" {
		return named, nil
	}
	old := c.find(func(x *storedCode) bool { return x.ID == r.ID })
	switch {
	case old == nil:
		return nil, problem.New(problem.NotFound, "id", "is not an unlock code of this meeting space: leave it out to make a new one")
	case named != nil && named != old:
		return nil, problem.New(problem.Conflict, "name", "is that of another unlock code of this meeting space")
	}
	return old, nil
}

// fits refuses too many codes, and codes that are too easy to guess.
func (c *codes) fits() error {
	chance := 0.0
	for _, one := range c.all {
		chance += math.Pow10(-one.Digits)
	}
	switch {
	case len(c.all) > maxCodes:
		return problem.New(problem.Full, "", "the meeting space has %d unlock codes, the most that are kept: delete some", maxCodes)
	case chance > maxChance*(1+1e-9):
		return problem.New(problem.Conflict, "code", "is too short beside the others, of which one could be guessed: use six digits or more")
	}
	return nil
}

// hash is the hash of a space's code.
func (cs *Codes) hash(spaceID string, code drivers.Secret) [sha256.Size]byte {
	return [sha256.Size]byte(cs.o.Keys.Hash("unlock code "+spaceID, string(code)))
}

// mark tells one device secret from another, and nothing of either.
func (cs *Codes) mark() string {
	return hex.EncodeToString(cs.o.Keys.Hash("unlock code", "mark")[:4])
}

// isDigits says whether something typed is of digits, as no card is.
func isDigits(typed drivers.Secret) bool {
	return !strings.ContainsFunc(string(typed), func(r rune) bool { return r < '0' || r > '9' })
}

// details are what events say of a code.
func (c *storedCode) details() map[string]any {
	details := map[string]any{"code_id": c.ID, "name": c.Name}
	if c.BookingID != "" {
		details["booking_id"] = c.BookingID
	}
	return details
}
