package api

import "sync"

const (
	// maxBodies bounds what all requests together have sent so far beyond keptBody of
	// each, in bytes.
	maxBodies = 24 << 20
	// maxBodiesOfOne is how much of it one holder has at most, and maxBodiesOfStrangers all
	// who have shown no credential.
	maxBodiesOfOne, maxBodiesOfStrangers = maxBodies / 2, maxBodies / 4
)

// bodies is that budget. Nobody has all of it, so that who sends slowly keeps no other from sending.
type bodies struct {
	mu  sync.Mutex
	all int64
	of  map[string]int64 // by holder
}

// take takes bytes for a holder, or none.
func (b *bodies) take(of string, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := int64(maxBodiesOfOne)
	if of == "" {
		most = maxBodiesOfStrangers
	}
	if b.all+bytes > maxBodies || b.of[of]+bytes > most {
		return false
	}
	if b.of == nil {
		b.of = map[string]int64{}
	}
	b.all += bytes
	b.of[of] += bytes
	return true
}

// give gives them back.
func (b *bodies) give(of string, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all -= bytes
	if b.of[of] -= bytes; b.of[of] == 0 {
		delete(b.of, of)
	}
}

// holder is as whom a request counts where places and bytes are shared: all credentials of an organization as one,
// anybody else by his credential; empty: it has shown none.
func holder(c *call) string {
	switch {
	case c.who.OrganizationID != "":
		return "organization " + c.who.OrganizationID
	case c.who.ID != "":
		return credential(c)
	}
	return ""
}

func credential(c *call) string { return c.who.via + " " + c.who.Kind + " " + c.who.ID }
