package plot

import (
	"slices"
	"testing"
)

// TestNobodyLooked: a time in which the gateway was off is no time with people, and none without.
func TestNobodyLooked(t *testing.T) {
	off := []Off{{at(10), at(12)}}
	for name, c := range map[string]struct{ given, want []Sample }{
		"over it":       {[]Sample{{at(9), "occupied"}, {at(13), "vacant"}}, []Sample{{at(9), "occupied"}, {at(10), ""}, {at(12), "occupied"}, {at(13), "vacant"}}},
		"another after": {[]Sample{{at(9), "occupied"}, {at(12), "vacant"}}, []Sample{{at(9), "occupied"}, {at(10), ""}, {at(12), "vacant"}}},
		"only before":   {[]Sample{{at(9), "vacant"}}, []Sample{{at(9), "vacant"}, {at(10), ""}, {at(12), "vacant"}}},
		"only after":    {[]Sample{{at(13), "vacant"}}, []Sample{{at(13), "vacant"}}},
		"away before":   {[]Sample{{at(8), "occupied"}, {at(9), ""}, {at(13), "vacant"}}, []Sample{{at(8), "occupied"}, {at(9), ""}, {at(10), ""}, {at(13), "vacant"}}},
		"never":         {nil, nil},
	} {
		if got := Without(c.given, off); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	night := []Off{{at(-5), at(7)}}
	want := []Sample{{at(7), "vacant"}, {at(9), "occupied"}}
	if got := Without([]Sample{{at(0), "vacant"}, {at(9), "occupied"}}, night); !slices.Equal(got, want) {
		t.Errorf("over midnight: %v, want %v", got, want)
	}
	p := New(nil, Without([]Sample{{at(9), "occupied"}, {at(13), "vacant"}}, off), day, at(14), 16, 28)
	if want := "people were seen for 120 min, not known before 09:00, not known for 120 min"; p.Title != want || len(p.Bands) != 2 {
		t.Errorf("it says %q with %d bands, want %q", p.Title, len(p.Bands), want)
	}
}
