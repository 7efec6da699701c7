package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/drivers"
	"roomgate/store"
)

const (
	// maxUnlockCodes is how many codes a space has at most. When there are so
	// many, those that are over for more than a day go first.
	maxUnlockCodes = 500
	// Codes have so many digits; those that are made here madeDigits.
	minDigits, maxDigits, madeDigits = 4, 10, 6
	// maxChance is how likely one guess may be right, all codes of a space
	// together: ten of four digits, a hundred of five, or any 500 of six.
	maxChance = 1e-3
)

// UnlockCode is a code for the keypad of a space's door, without its digits.
type UnlockCode struct {
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

// UnlockCodeSet is a code as it shall be. ID or else Name finds the one that is
// replaced; there is none of that name: it is a new one. Code is its digits;
// empty: those that it has, or for a new one some that are made.
type UnlockCodeSet struct {
	ID, Name    string
	Code        drivers.Secret
	From, Until time.Time
	BookingID   string
}

// storedUnlockCode is a code with its hash.
//
// The hash is an HMAC under a secret that is not in the database, and not a
// slow hash such as Argon2id: a code of six digits has a million values, which
// no slow hash protects from who has the card; a keypad would wait for one slow
// hash per code of the space; and whoever types at a door could keep a small
// board busy. Guessing at the door is met by the limit on tries.
type storedUnlockCode struct {
	UnlockCode
	Hash []byte `json:"hash"`
	Mark string `json:"mark"` // of the secret that it was made with
}

func (c *storedUnlockCode) key() string { return c.SpaceID + "/" + c.ID }

// codebook is the codes of a space. Readers take no lock; it is replaced whole.
type codebook struct {
	turn sync.Mutex // held by who changes it
	book atomic.Pointer[codes]
}

type codes struct {
	all    []*storedUnlockCode // oldest first
	byHash map[[sha256.Size]byte]*storedUnlockCode
}

func newCodes(all []*storedUnlockCode) *codes {
	slices.SortFunc(all, func(a, b *storedUnlockCode) int { return cmp.Compare(a.ID, b.ID) })
	c := &codes{all, map[[sha256.Size]byte]*storedUnlockCode{}}
	for _, one := range all {
		c.byHash[[sha256.Size]byte(one.Hash)] = one
	}
	return c
}

func (c *codes) find(is func(*storedUnlockCode) bool) *storedUnlockCode {
	if i := slices.IndexFunc(c.all, is); i >= 0 {
		return c.all[i]
	}
	return nil
}

// with is the codes with one put in or, if it is nil, without old.
func (c *codes) with(old, one *storedUnlockCode) *codes {
	all := slices.DeleteFunc(slices.Clone(c.all), func(x *storedUnlockCode) bool { return x == old })
	if one != nil {
		all = append(all, one)
	}
	return newCodes(all)
}

// codeHash is the hash of a space's code.
func (a *Agent) codeHash(spaceID string, code drivers.Secret) [sha256.Size]byte {
	return [sha256.Size]byte(a.keys.Hash("unlock code "+spaceID, string(code)))
}

// secretMark tells one device secret from another, and nothing of either.
func (a *Agent) secretMark() string {
	return hex.EncodeToString(a.keys.Hash("unlock code", "mark")[:4])
}

// SetUnlockCode makes or replaces a code of a space, with who did it in the
// log. made are the digits if they were made here: they are shown only now.
func (a *Agent) SetUnlockCode(ctx context.Context, spaceID string, set UnlockCodeSet, by string) (c UnlockCode, made drivers.Secret, created bool, err error) {
	s, door, err := a.doorOf(spaceID)
	if err != nil {
		return c, "", false, err
	}
	s.codes.turn.Lock()
	defer s.codes.turn.Unlock()
	if err := a.checkCodeSet(s, &set); err != nil {
		return c, "", false, err
	}
	book, forgotten := a.room(s)
	old, err := book.replaced(set)
	if err != nil {
		return c, "", false, err
	}
	one, made, err := a.newCode(s, book, old, set)
	if err != nil {
		return c, "", false, err
	}
	next := book.with(old, one)
	if err := next.fits(); err != nil {
		return c, "", false, err
	}
	kind := "unlockCodeCreated"
	if old != nil {
		kind = "unlockCodeUpdated"
	}
	err = a.Events.Update(ctx, func(tx *store.Tx) error {
		for _, over := range forgotten {
			if err := unlockCodes.Delete(tx, over.key()); err != nil {
				return err
			}
		}
		if err := unlockCodes.Put(tx, one.key(), *one); err != nil {
			return err
		}
		return a.tellCode(tx, door, kind, one, by)
	}, func() { s.codes.book.Store(next) })
	if err != nil {
		return c, "", false, err
	}
	return one.UnlockCode, made, old == nil, nil
}

// newCode is the code that set asks for, in the place of old.
func (a *Agent) newCode(s *space, book *codes, old *storedUnlockCode, set UnlockCodeSet) (one *storedUnlockCode, made drivers.Secret, err error) {
	now := a.Now().UTC().Truncate(time.Millisecond)
	one = &storedUnlockCode{UnlockCode: UnlockCode{ID: ulid.Make().String(), SpaceID: s.ID, Created: now}}
	if old != nil {
		*one = *old
	}
	one.Name, one.BookingID, one.From, one.Until, one.Updated = set.Name, set.BookingID, set.From, set.Until, now
	switch {
	case set.Code != "":
	case old != nil && old.Mark == a.secretMark():
		return one, "", nil
	default:
		made = a.freeCode(s, book)
		set.Code = made
	}
	hash := a.codeHash(s.ID, set.Code)
	if other := book.byHash[hash]; other != nil && other != old {
		return nil, "", refuse(Conflict, "code", "is that of another unlock code of this meeting space: choose other digits")
	}
	one.Hash, one.Mark, one.Digits = hash[:], a.secretMark(), len(set.Code)
	return one, made, nil
}

// freeCode makes digits that no code of the space has.
func (a *Agent) freeCode(s *space, book *codes) drivers.Secret {
	values := big.NewInt(int64(math.Pow10(madeDigits)))
	for {
		n, err := rand.Int(rand.Reader, values)
		if err != nil { // never (crypto/rand)
			panic(err)
		}
		code := drivers.Secret(fmt.Sprintf("%0*d", madeDigits, n))
		if book.byHash[a.codeHash(s.ID, code)] == nil {
			return code
		}
	}
}

// replaced is the code that set replaces; nil: none.
func (c *codes) replaced(set UnlockCodeSet) (*storedUnlockCode, error) {
	named := c.find(func(x *storedUnlockCode) bool { return strings.EqualFold(x.Name, set.Name) })
	if set.ID == "" {
		return named, nil
	}
	old := c.find(func(x *storedUnlockCode) bool { return x.ID == set.ID })
	switch {
	case old == nil:
		return nil, refuse(NotFound, "id", "is not an unlock code of this meeting space: leave it out to make a new one")
	case named != nil && named != old:
		return nil, refuse(Conflict, "name", "is that of another unlock code of this meeting space")
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
	case len(c.all) > maxUnlockCodes:
		return refuse(Full, "", "the meeting space has %d unlock codes, the most that are kept: delete some", maxUnlockCodes)
	case chance > maxChance*(1+1e-9):
		return refuse(Conflict, "code", "is too short beside the others, of which one could be guessed: use six digits or more")
	}
	return nil
}

// checkCodeSet refuses what can be no code of the space, and writes the name
// and the times as they are kept.
func (a *Agent) checkCodeSet(s *space, set *UnlockCodeSet) error {
	set.Name = strings.TrimSpace(set.Name)
	set.From, set.Until = set.From.UTC().Truncate(time.Millisecond), set.Until.UTC().Truncate(time.Millisecond)
	switch {
	case set.Name == "" || len(set.Name) > 100 || !utf8.ValidString(set.Name) || strings.ContainsFunc(set.Name, unicode.IsControl):
		return refuse(Invalid, "name", "is out of range: want 1 to 100 bytes of text")
	case set.Code != "" && (!digitsOnly(set.Code) || len(set.Code) < minDigits || len(set.Code) > maxDigits):
		return refuse(Invalid, "code", "is out of range: want %d to %d digits", minDigits, maxDigits)
	case !eventlog.Storable(set.From):
		return refuse(Invalid, "valid_from", "is out of range: want a year from 1970 to 9999")
	case !eventlog.Storable(set.Until):
		return refuse(Invalid, "valid_until", "is out of range: want a year from 1970 to 9999")
	case !set.Until.IsZero() && !set.Until.After(set.From):
		return refuse(Invalid, "valid_until", "is not after valid_from")
	case !set.Until.IsZero() && a.clock.Trust() == Trusted && !set.Until.After(a.Now()):
		return refuse(Invalid, "valid_until", "is past")
	}
	if set.BookingID == "" {
		return nil
	}
	b, ok := s.room.Bookings().Get(set.BookingID)
	if !ok {
		return refuse(NotFound, "booking_id", "is not a booking of this meeting space")
	}
	if !b.Live() {
		return refuse(NotNow, "booking_id", "is a booking that is %s", b.State)
	}
	return nil
}

// digitsOnly says whether something entered is of digits, as no card is.
func digitsOnly(code drivers.Secret) bool {
	return !strings.ContainsFunc(string(code), func(r rune) bool { return r < '0' || r > '9' })
}

// room is the codes of a space, without those that are over if there are too
// many to add one.
func (a *Agent) room(s *space) (book *codes, forgotten []*storedUnlockCode) {
	book = s.codes.book.Load()
	if len(book.all) < maxUnlockCodes {
		return book, nil
	}
	var left []*storedUnlockCode
	for _, one := range book.all {
		if a.over(s, one) {
			forgotten = append(forgotten, one)
		} else {
			left = append(left, one)
		}
	}
	return newCodes(left), forgotten
}

// UnlockCodes returns the codes of a space, oldest first.
func (a *Agent) UnlockCodes(spaceID string) ([]UnlockCode, error) {
	s, _, err := a.doorOf(spaceID)
	if err != nil {
		return nil, err
	}
	all := []UnlockCode{}
	for _, one := range s.codes.book.Load().all {
		all = append(all, one.UnlockCode)
	}
	return all, nil
}

// DeleteUnlockCode ends a code at once.
func (a *Agent) DeleteUnlockCode(ctx context.Context, spaceID, id, by string) error {
	s, door, err := a.doorOf(spaceID)
	if err != nil {
		return err
	}
	s.codes.turn.Lock()
	defer s.codes.turn.Unlock()
	book := s.codes.book.Load()
	old := book.find(func(x *storedUnlockCode) bool { return x.ID == id })
	if old == nil {
		return refuse(NotFound, "code_id", "is not an unlock code of this meeting space")
	}
	return a.Events.Update(ctx, func(tx *store.Tx) error {
		if err := unlockCodes.Delete(tx, old.key()); err != nil {
			return err
		}
		return a.tellCode(tx, door, "unlockCodeDeleted", old, by)
	}, func() { s.codes.book.Store(book.with(old, nil)) })
}

// tellCode writes down what was done to a code.
func (a *Agent) tellCode(tx *store.Tx, door *device.Device, kind string, c *storedUnlockCode, by string) error {
	details := c.told()
	details["by"] = by
	return a.Events.Push(tx, door.Event(kind, "", time.Now(), details))
}

// told is what events say of a code.
func (c *storedUnlockCode) told() map[string]any {
	details := map[string]any{"code_id": c.ID, "name": c.Name}
	if c.BookingID != "" {
		details["booking_id"] = c.BookingID
	}
	return details
}

// doorOf returns a space and its lock.
func (a *Agent) doorOf(spaceID string) (*space, *device.Device, error) {
	s, err := a.space(spaceID)
	if err != nil {
		return nil, nil, err
	}
	if d := s.byType[drivers.TypeLock]; d != nil {
		return s, d, nil
	}
	return nil, nil, refuse(NotFound, "meeting_space_id", "is a meeting space without a lock")
}
