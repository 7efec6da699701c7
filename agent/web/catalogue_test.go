package web

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	places    = regexp.MustCompile(`\{[a-z]+\}`)
	timeOfDay = regexp.MustCompile(`\b\d{1,2}:\d{2}\b`)
	inline    = regexp.MustCompile(`<[^>]* on[a-z]+=`)
)

// TestCataloguesMatch: every language has the same texts with the same places.
func TestCataloguesMatch(t *testing.T) {
	english := CatalogueOf("en").texts
	for _, language := range Languages {
		w := CatalogueOf(language)
		if w.Language != language {
			t.Fatalf("%s is %s", language, w.Language)
		}
		if got, want := slices.Sorted(maps.Keys(w.texts)), slices.Sorted(maps.Keys(english)); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %q", language, differ(got, want))
		}
		same := 0
		for key, text := range w.texts {
			got, want := places.FindAllString(text, -1), places.FindAllString(english[key], -1)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s has the places %q, want %q", language, key, got, want)
			}
			if text == english[key] {
				same++
			}
		}
		if language != "en" && same > len(english)/8 {
			t.Errorf("%s: %d of %d texts are English", language, same, len(english))
		}
		if len(w.list("weekdays")) != 7 || len(w.list("months")) != 12 {
			t.Errorf("%s has other days or months", language)
		}
	}
}

func differ(a, b []string) (all []string) {
	for _, key := range append(slices.Clone(a), b...) {
		if slices.Contains(a, key) != slices.Contains(b, key) {
			all = append(all, key)
		}
	}
	return all
}

// TestEveryTextIsUsed: a text that nothing asks for is forgotten, and one that is
// asked for is there.
func TestEveryTextIsUsed(t *testing.T) {
	var source strings.Builder
	for _, pattern := range []string{"*.go", "page/*.html", "asset/*.js"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	// Keys that are put together begin so.
	made := []string{"state.", "because.", "why.", "seen.", "source.", "report.", "done.", "refused.", "pair.refused", "door.", "lock.", "light.", "book", "extend"}
	for key := range CatalogueOf("en").texts {
		if !strings.Contains(source.String(), `"`+key+`"`) && !slices.ContainsFunc(made, func(p string) bool { return strings.HasPrefix(key, p) }) {
			t.Errorf("nothing asks for %s", key)
		}
	}
	for _, m := range regexp.MustCompile(`[.( ]T\(? ?"([a-z.-]+)"`).FindAllStringSubmatch(source.String(), -1) {
		if key := m[1]; !strings.HasSuffix(key, ".") && !CatalogueOf("en").Has(key) {
			t.Errorf("there is no text %s", key)
		}
	}
	for _, state := range []string{stateFree, stateReserved, stateCheckIn, stateBusy, stateEnding, stateDisabled} {
		for _, prefix := range []string{"state.", "why."} {
			if !CatalogueOf("en").Has(prefix + state) {
				t.Errorf("there is no text %s%s", prefix, state)
			}
		}
	}
	for _, what := range Problems {
		if !CatalogueOf("en").Has("report." + what) {
			t.Errorf("there is no text report.%s", what)
		}
	}
}

func TestLengthsAndAges(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 min", 43 * time.Minute: "43 min", time.Hour: "1 h", 80 * time.Minute: "1 h 20 min"} {
		if got := Length(d); got != want {
			t.Errorf("%v is %q", d, got)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "0 s", 200 * time.Millisecond: "0 s", 1900 * time.Millisecond: "1 s", 4 * time.Second: "4 s", 5 * time.Minute: "5 min", 50 * time.Hour: "50 h"} {
		if got := Age(d); got != want {
			t.Errorf("%v ago is %q", d, got)
		}
	}
}
