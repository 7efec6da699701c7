package calendar

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadProperty(t *testing.T) {
	type params map[string]string
	tests := []struct {
		line   string
		params params
		value  string
	}{
		{"dtstart:20260105T100000Z", nil, "20260105T100000Z"},
		{"DTSTART;tzid=Europe/Berlin;VALUE=DATE-TIME:20260105T100000", params{"TZID": "Europe/Berlin", "VALUE": "DATE-TIME"}, "20260105T100000"},
		{`DTSTART;CN="Kaya; Ada: 1, 2":x`, params{"CN": "Kaya; Ada: 1, 2"}, "x"},
		{`DTSTART;CN="^'Ada^'":x`, params{"CN": "^'Ada^'"}, "x"}, // RFC 6868 is the name's business
		{`DTSTART;MEMBER="mailto:a","mailto:b";CN=x\, y\":v`, params{"MEMBER": "mailto:a", "CN": `x, y"`}, "v"},
		{"DTSTART;CN=;CN=late:", params{"CN": ""}, ""},
		{"DTSTART;;\t TZID=UTC;X_A=1:x", params{"TZID": "UTC", "X_A": "1"}, "x"},
		{"DTSTART;TZID=(UTC+01:00) Berlin:x", params{"TZID": "(UTC+01:00) Berlin"}, "x"},
		{`DTSTART;TZID="(UTC-03:00) Brasília":x:y`, params{"TZID": "(UTC-03:00) Brasília"}, "x:y"},
		{`DTSTART:a\,b\\n;c:"d"`, nil, `a\,b\\n;c:"d"`},
	}
	for _, tt := range tests {
		p, err := readProperty([]byte(tt.line))
		if diff := cmp.Diff(map[string]string(tt.params), p.params); err != nil || diff != "" || p.name != "DTSTART" || p.value != tt.value {
			t.Errorf("%s: %+v, %v\n%s", tt.line, p, err, diff)
		}
	}
	if got, want := (property{value: ` a\,b\;c\\n\nd\Ne\x `}).text(), "a,b;c\\n\nd\ne\\x"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestReadPropertyRefuses(t *testing.T) {
	for line, want := range map[string]error{
		"":                      errLine,
		"DTSTART":               errLine,
		"DT START:x":            errLine,
		":x":                    errLine,
		"DTSTART;":              errParam,
		"DTSTART;TZID:x":        errParam,
		"DTSTART;TZID=":         errParam,
		"DTSTART;TZID=UTC":      errParam,
		`DTSTART;TZID="UTC:x`:   errParam,
		`DTSTART;TZID="UTC"`:    errParam,
		`DTSTART;TZID="UTC"x:y`: errLine,
		`DTSTART;TZID="a"="b":`: errLine,
		`DTSTART;TZID=a"b":x`:   errParam,
		"DTSTART;TZID=a\x01:x":  errParam,
		`DTSTART;TZID=a\`:       errParam,
		"DTSTART;=a:x":          errParam,
	} {
		if p, err := readProperty([]byte(line)); !errors.Is(err, want) {
			t.Errorf("%q: %+v, %v, want %v", line, p, err, want)
		}
	}
}
