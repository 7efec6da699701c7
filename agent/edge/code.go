package edge

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"roomgate/agent/auth"
)

const (
	// codeLife is how long a claim code can be used.
	codeLife = 15 * time.Minute
	// codeSize is its length: 40 random bits, which somebody types once.
	codeSize = 8
	// codeLetters has 32 that are not taken for each other.
	codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// maxCodes is how many may be open; the oldest go first.
	maxCodes = 100
)

// wrongCodes is how many wrong claim codes a network address may send.
var wrongCodes = auth.Rate{Burst: 10, Every: time.Minute}

// openCode is a claim code that was not used yet. It is kept in memory only, with
// its hash: it is good for minutes, and a restart ends it.
type openCode struct {
	hash    string
	spaceID string
	until   time.Time // by the monotonic clock
}

// NewCode makes a code by which one edge device may register for a space, once
// and within the time that is returned. An older code of the space ends. It
// refuses a space that there is not.
func (b *Devices) NewCode(spaceID string) (code string, life time.Duration, err error) {
	if err := b.o.Space(spaceID); err != nil {
		return "", 0, err
	}
	random := make([]byte, codeSize)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	for i, r := range random {
		random[i] = codeLetters[r%32]
	}
	code = string(random)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune(func(c openCode) bool { return c.spaceID == spaceID })
	if len(b.codes) >= maxCodes {
		b.codes = b.codes[1:]
	}
	b.codes = append(b.codes, openCode{b.hash(code), spaceID, time.Now().Add(codeLife)})
	return code[:codeSize/2] + "-" + code[codeSize/2:], codeLife, nil
}

func (b *Devices) hash(code string) string { return string(b.o.Keys.Hash("edge claim", code)) }

// prune drops codes that are too old, and others. The caller has the lock.
func (b *Devices) prune(also func(openCode) bool) {
	now := time.Now()
	b.codes = slices.DeleteFunc(b.codes, func(c openCode) bool { return !now.Before(c.until) || also(c) })
}

// use takes a code out, which nobody else can use then.
func (b *Devices) use(hash string) (c openCode, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.prune(func(x openCode) bool {
		if x.hash == hash {
			c, ok = x, true
		}
		return x.hash == hash
	})
	return c, ok && time.Now().Before(c.until)
}

// codeText is a claim code as it was made: what is typed wrongly but cannot be
// mistaken is taken as it is meant.
func codeText(typed string) string {
	if len(typed) > 4*codeSize {
		return ""
	}
	return strings.NewReplacer(" ", "", "-", "", "O", "0", "I", "1", "L", "1", "U", "V").Replace(strings.ToUpper(typed))
}
