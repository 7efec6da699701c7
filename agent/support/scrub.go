package support

import (
	"cmp"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Removed stands where something was.
const Removed = "[removed]"

// minWord is the shortest word that is looked for, in bytes. Shorter ones
// would be found in everything.
const minWord = 3

// common are words of the product that a configuration may use for something
// of its own, and that tell nothing.
var common = []string{"roomgate", "gateway", "lock", "camera", "light", "fan", "o3-sensor", "meeting-room-display", "online", "offline", "admin", "user", "true", "false", "none"}

var (
	uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	// What is a secret or somebody's by its looks.
	address = regexp.MustCompile(`[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}.-]+`)
	link    = regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://)[^\s"'<>\\]+`)
	key     = regexp.MustCompile(`\b(rgsys|rgorg|rgedge|whsec|sk|tk)_[A-Za-z0-9_+/=-]+|\beyJ[A-Za-z0-9_.-]+`)
	long    = regexp.MustCompile(`[A-Za-z0-9_+/=-]{32,}`)
)

// Scrubber removes what is private from text.
type Scrubber struct {
	words map[string][]string // by their first minWord bytes, the longest first
}

// NewScrubber removes these words, whatever the case of their Latin letters,
// and what looks like an address, a link or a key.
func NewScrubber(words []string) *Scrubber {
	s := &Scrubber{map[string][]string{}}
	for _, w := range withParts(words) {
		w = lower(strings.TrimSpace(w))
		if len(w) < minWord || slices.Contains(common, w) || w == Removed {
			continue
		}
		begin := w[:minWord]
		if !slices.Contains(s.words[begin], w) {
			s.words[begin] = append(s.words[begin], w)
		}
	}
	for _, all := range s.words {
		slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the whole before its parts
	}
	return s
}

// withParts adds to links and addresses what an error about them says: hosts,
// and who it is.
func withParts(words []string) (all []string) {
	for _, w := range words {
		all = append(all, w)
		if u, err := url.Parse(w); err == nil && u.Host != "" {
			all = append(all, u.Host, u.Hostname())
		}
		if host, _, err := net.SplitHostPort(w); err == nil && host != "" {
			all = append(all, host)
		}
		if a, err := mail.ParseAddress(w); err == nil {
			_, domain, _ := strings.Cut(a.Address, "@")
			all = append(all, a.Name, a.Address, domain)
		}
	}
	return slices.DeleteFunc(all, func(w string) bool {
		ip, err := netip.ParseAddr(w)
		return w == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
	})
}

// lower makes Latin letters small and leaves the length.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// withoutWords removes the words. There may be thousands of them.
func (s *Scrubber) withoutWords(text string) string {
	small := lower(text)
	var out strings.Builder
	for i := 0; i < len(text); {
		n := s.wordAt(small[i:])
		if n > 0 {
			out.WriteString(Removed)
			i += n
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

// wordAt is the length of the longest word that a text begins with, or 0.
func (s *Scrubber) wordAt(small string) int {
	if len(small) < minWord {
		return 0
	}
	for _, w := range s.words[small[:minWord]] {
		if strings.HasPrefix(small, w) {
			return len(w)
		}
	}
	return 0
}

// Text returns the text without what is private.
func (s *Scrubber) Text(text string) string {
	// Links and addresses whole, before words in them leave a rest of them.
	text = link.ReplaceAllString(text, "${1}"+Removed)
	text = address.ReplaceAllLiteralString(text, Removed)
	text = key.ReplaceAllLiteralString(text, Removed)
	text = s.withoutWords(text)
	return long.ReplaceAllStringFunc(text, func(found string) string {
		if uuid.MatchString(found) || strings.Count(found, "-") > 8 || strings.Trim(found, "-=_+/") == "" || isPath(found) {
			return found
		}
		return Removed
	})
}

// isPath says whether a long word is a path of the system: many short names.
func isPath(word string) bool {
	for part := range strings.SplitSeq(word, "/") {
		if len(part) >= 32 {
			return false
		}
	}
	return strings.HasPrefix(word, "/")
}

// Value scrubs every text in what JSON decodes to, those of its keys included.
func (s *Scrubber) Value(v any) any {
	switch v := v.(type) {
	case string:
		return s.Text(v)
	case []any:
		for i := range v {
			v[i] = s.Value(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, below := range v {
			out[s.Text(name)] = s.Value(below)
		}
		return out
	}
	return v
}
