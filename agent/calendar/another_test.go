//go:build integration

package calendar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// others is what other programs make of calendars and rules: .ci/clients/occurrences.mjs.
type others struct {
	Calendars []struct {
		Found []struct {
			Start, End int64
			Title      string
		}
		Error string
	}
	Rules []struct {
		Found []string
		Error string
	}
}

// askOthers runs them.
func askOthers(t *testing.T, asked any) (got others) {
	t.Helper()
	const tools, source = "../../.cache/clients", "../../.ci/clients/occurrences.mjs"
	here, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(here, "node_modules", "ical.js")); err != nil {
		t.Skipf("%v: run .ci/install, as make test-all does", err)
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // modules are looked for beside the file
	if err := os.Symlink(filepath.Join(here, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "occurrences.mjs"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "occurrences.mjs"))
	run.Stdin = bytes.NewReader(in)
	out, err := run.Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

// askedCalendar and askedRule are what occurrences.mjs takes.
type (
	askedCalendar struct {
		File string `json:"file"`
		Zone string `json:"zone"`
		From int64  `json:"from"`
		To   int64  `json:"to"`
	}
	askedRule struct {
		Start string `json:"start"`
		Rule  string `json:"rule"`
		Count int    `json:"count"`
	}
)

// differs are the calendars and rules that ours reads in another way than the others, and why.
var differs = map[string]string{
	"owa-display-names.ics 2020-10-01":     "RFC 5545, 3.8.5.3: the DTSTART property defines the first instance in the recurrence set; where it is not synchronized with the rule the set is undefined, and ical.js leaves it out",
	"zimbra-series.ics 2023-11-08":         "RFC 5545, 3.8.5.2: an RDATE may have periods; ical.js stops at one",
	"FREQ=DAILY;BYHOUR=9,10 from 20260106": noHours, "FREQ=WEEKLY;BYDAY=TU,TH;BYHOUR=9;BYMINUTE=30 from 20260106": noHours,
}

// noHours is what rrule-temporal leaves out.
const noHours = "RFC 5545, 3.3.10: BYSECOND, BYMINUTE and BYHOUR MUST NOT be specified when the DTSTART has a DATE value, and MUST be ignored in RECUR values that violate that"

// TestAnotherReadsTheSame compares ours with ical.js for the calendars of other projects, and with rrule-temporal for rules that are
// easily misread.
func TestAnotherReadsTheSame(t *testing.T) {
	var asked struct {
		Calendars []askedCalendar `json:"calendars"`
		Rules     []askedRule     `json:"rules"`
	}
	for _, c := range realCalendars {
		file, err := filepath.Abs(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		asked.Calendars = append(asked.Calendars, askedCalendar{file, c.zone, onDay(c.from).Unix(), onDay(c.to).Unix()})
	}
	rules := append(drawnRules(), anothersRules...)
	for _, r := range rules {
		asked.Rules = append(asked.Rules, askedRule{r.start, strings.ReplaceAll(r.rule, " ", ""), 12})
	}
	got := askOthers(t, asked)
	const last = "2056"
	same := 0
	compare := func(what, problem string, others, ours []string) {
		t.Helper()
		slices.Sort(others)
		slices.Sort(ours)
		equal := slices.Equal(others, ours)
		switch reason := differs[what]; {
		case problem != "" && reason == "":
			t.Errorf("%s: the other says %s", what, problem)
		case !equal && reason == "":
			t.Errorf("%s:\nothers %q\nours   %q", what, others, ours)
		case equal && reason != "":
			t.Errorf("%s is read the same by now: it is not to be excused", what)
		case equal:
			same++
		}
	}
	for i, c := range realCalendars {
		raw, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		mine, _, err := readCalendar(bytes.NewReader(raw), mustZone(t, c.zone), onDay(c.from), onDay(c.to))
		if err != nil {
			t.Fatal(err)
		}
		var others, ours []string
		for _, o := range got.Calendars[i].Found {
			others = append(others, line(time.Unix(o.Start, 0), time.Unix(o.End, 0), o.Title))
		}
		for _, o := range mine {
			ours = append(ours, line(o.Start, o.End, o.Title))
		}
		compare(c.file+" "+c.from, got.Calendars[i].Error, others, ours)
	}
	for i, r := range rules {
		start, err := parseMoment(r.start, utc, utc)
		if err != nil {
			t.Fatal(err)
		}
		var e expander
		walls, err := e.walls(r.rule, start, january, onDay("2056-01-01"))
		if err != nil {
			t.Fatal(err)
		}
		var ours []string
		for _, w := range walls {
			ours = append(ours, w.Format("20060102T150405")[:len(r.start)])
		}
		others := slices.DeleteFunc(got.Rules[i].Found, func(start string) bool { return start >= last })
		ours = ours[:min(len(ours), len(others))]
		compare(r.rule+" from "+r.start, got.Rules[i].Error, others, ours)
	}
	t.Logf("%d of %d calendars and rules are read the same, %d are excused", same, len(realCalendars)+len(rules), len(differs))
}

func line(start, end time.Time, title string) string {
	return fmt.Sprintf("%s-%s %s", start.UTC().Format("2006-01-02T15:04"), end.UTC().Format("02T15:04"), strings.TrimSpace(title))
}

// drawnRules are rules of every kind that calendars have, the same in each run.
func drawnRules() (list []struct{ start, rule, want string }) {
	draw := rand.New(rand.NewPCG(5545, 310))
	some := func(of ...string) string {
		draw.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		return strings.Join(of[:1+draw.IntN(min(3, len(of)))], ",")
	}
	days := []string{"MO", "TU", "WE", "TH", "FR", "SA", "SU"}
	maybe := func(rule *string, part string) {
		if draw.IntN(2) == 0 {
			*rule += ";" + part
		}
	}
	for range 200 {
		frequency := []string{"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}[draw.IntN(4)]
		rule := "FREQ=" + frequency
		maybe(&rule, fmt.Sprint("INTERVAL=", 1+draw.IntN(4)))
		maybe(&rule, "WKST="+days[draw.IntN(7)])
		switch frequency {
		case "DAILY":
			maybe(&rule, "BYMONTH="+some("1", "2", "6", "11"))
			maybe(&rule, "BYDAY="+some(days...))
		case "WEEKLY":
			rule += ";BYDAY=" + some(days...)
			maybe(&rule, "BYSETPOS="+some("1", "-1"))
		case "MONTHLY":
			if draw.IntN(2) == 0 {
				rule += ";BYMONTHDAY=" + some("1", "15", "28", "31", "-1", "-2")
			} else {
				rule += ";BYDAY=" + some("MO", "2TU", "-1FR", "1SU", "3WE", "SA")
				maybe(&rule, "BYSETPOS="+some("1", "-1"))
			}
		case "YEARLY":
			switch draw.IntN(4) {
			case 0: // in which year of an interval a week lies that two years share, the RFC does not say
				if weeks := some("1", "20", "52", "53", "-1"); strings.Contains(rule, "INTERVAL") {
					rule += ";BYWEEKNO=20"
				} else {
					rule += ";BYWEEKNO=" + weeks
				}
				maybe(&rule, "BYDAY="+some(days...))
			case 1:
				rule += ";BYYEARDAY=" + some("1", "100", "366", "-1")
			case 2:
				rule += ";BYMONTH=" + some("1", "2", "9") + ";BYDAY=" + some("1MO", "-1SU", "TH")
			default:
				rule += ";BYMONTH=" + some("1", "2", "9") + ";BYMONTHDAY=" + some("1", "29", "31", "-1")
			}
		}
		start := fmt.Sprintf("2026%02d%02dT%02d0000", 1+draw.IntN(12), 1+draw.IntN(28), 8+draw.IntN(10))
		list = append(list, struct{ start, rule, want string }{start: start, rule: rule})
	}
	return list
}
