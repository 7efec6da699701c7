package rule

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testEvents = []string{"occupancyChanged", "booking.start", "booking.end", "booking.created"}

func good() Rule {
	return Rule{Name: "a", Trigger: Trigger{Event: "occupancyChanged"}, Actions: []Action{{Event: "b"}}}
}

func TestRefusedRules(t *testing.T) {
	for want, spoil := range map[string]func(*Rule){
		"name must have":   func(r *Rule) { r.Name = " " },
		"name must":        func(r *Rule) { r.Name = strings.Repeat("x", 101) },
		"trigger has 0 of": func(r *Rule) { r.Trigger = Trigger{} },
		"trigger has 2 of": func(r *Rule) { r.Trigger.Time = "07:30" },
		"trigger.event \"ocupancyChanged\" is not known, nearest known is occupancyChanged": func(r *Rule) { r.Trigger.Event = "ocupancyChanged" },
		"trigger.event \"rule.a b\"":                        func(r *Rule) { r.Trigger.Event = "rule.a b" },
		"trigger.device_type has no meaning":                func(r *Rule) { r.Trigger = Trigger{Time: "07:30", DeviceType: "fan"} },
		"trigger.before has no meaning without":             func(r *Rule) { r.Trigger.Before = 1 },
		"trigger.booking takes no before":                   func(r *Rule) { r.Trigger = Trigger{Booking: "booking.created", After: 1} },
		"trigger.booking \"occupancyChanged\" is not known": func(r *Rule) { r.Trigger = Trigger{Booking: "occupancyChanged"} },
		"trigger.before is out of range":                    func(r *Rule) { r.Trigger = Trigger{Booking: "booking.start", Before: Duration(25 * time.Hour)} },
		"trigger.after is out of range":                     func(r *Rule) { r.Trigger = Trigger{Booking: "booking.start", After: -1} },
		"trigger.time is not understood":                    func(r *Rule) { r.Trigger = Trigger{Time: "soon"} },
		"condition is wrong at character 1":                 func(r *Rule) { r.Condition = "x.y" },
		"actions has 0":                                     func(r *Rule) { r.Actions = nil },
		"actions has 11":                                    func(r *Rule) { r.Actions = make([]Action, 11) },
		"actions[0] has 0 of":                               func(r *Rule) { r.Actions[0].Event = "" },
		"actions[0] has 2 of":                               func(r *Rule) { r.Actions[0].Message = "x" },
		"actions[0] has sub_device":                         func(r *Rule) { r.Actions[0].Action = "on" },
		"actions[0].action is missing":                      func(r *Rule) { r.Actions[0] = Action{DeviceType: "fan"} },
		"actions[0].event is not a name":                    func(r *Rule) { r.Actions[0].Event = "booking.start" },
		"actions[0].message must":                           func(r *Rule) { r.Actions[0] = Action{Message: strings.Repeat("x", 201)} },
		"limits.max_per_minute is out":                      func(r *Rule) { r.Limits.PerMinute = 61 },
		"limits.cooldown is out":                            func(r *Rule) { r.Limits.Cooldown = -1 },
	} {
		r := good()
		spoil(&r)
		if err := r.Check(testEvents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	r := good()
	if err := r.Check(testEvents); err != nil || r.Limits.PerMinute != UsualPerMinute {
		t.Errorf("a good one: %v %+v", err, r)
	}
}

func TestRulesKeepTheirForm(t *testing.T) {
	r := Rule{Name: "a", Trigger: Trigger{Booking: BookingStart, Before: Duration(90 * time.Minute)}, Limits: Limits{1, Duration(10 * time.Minute)}}
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `"before":"1h30m"`) || !strings.Contains(string(data), `"cooldown":"10m"`) {
		t.Fatalf("%s %v", data, err)
	}
	var back Rule
	if err := json.Unmarshal(data, &back); err != nil || back.Trigger != r.Trigger || back.Limits != r.Limits {
		t.Errorf("%+v %v", back, err)
	}
}

func TestLoops(t *testing.T) {
	chain := []string{}
	for i := range 2 * maxAgain {
		id := []string{"a", "b"}[i%2]
		if why := Loop(id, chain); why != "" {
			t.Fatalf("run %d: %s", i, why)
		}
		chain = append(chain, id)
	}
	if why := Loop("a", chain); !strings.Contains(why, "triggers itself") || !strings.Contains(why, "a, b") {
		t.Errorf("it is %q", why)
	}
	long := []string{}
	for i := range longestChain {
		long = append(long, string(rune('a'+i)))
	}
	if Loop("z", long) == "" || Loop("z", long[1:]) != "" {
		t.Error("chains have no end")
	}
}

// However runs come, no minute has more than the limit, and none comes within
// the cooldown.
func TestRateHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{PerMinute: rapid.IntRange(1, 5).Draw(t, "limit"), Cooldown: Duration(rapid.IntRange(0, 20).Draw(t, "cooldown")) * Duration(time.Second)}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		r, taken := RateSince(time.Time{}), []time.Time{}
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 30), 1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(step) * time.Second)
			would := r.Would(l, now)
			refusal, _ := r.Take(l, now)
			if would != refusal {
				t.Fatalf("it would be %q and is %q", would, refusal)
			}
			if refusal != "" {
				continue
			}
			recent := 0
			for _, at := range taken {
				if now.Sub(at) < time.Minute {
					recent++
				}
			}
			if recent >= l.PerMinute {
				t.Fatalf("%d runs in the minute before %v", recent+1, now)
			}
			if n := len(taken); n > 0 && now.Sub(taken[n-1]) < time.Duration(l.Cooldown) {
				t.Fatalf("a run within the cooldown at %v", now)
			}
			taken = append(taken, now)
		}
	})
}

func TestStormIsNoticed(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := RateSince(time.Time{})
	for i := range 60 * (patience + 2) {
		_, storm := r.Take(Limits{PerMinute: 1}, now.Add(time.Duration(i)*time.Second))
		if storm {
			if i < 60*patience {
				t.Errorf("after %d s already", i)
			}
			return
		}
	}
	t.Error("never")
}

func TestLogKeepsTheLast(t *testing.T) {
	l := NewLog(nil)
	for i := range 3 * KeepRuns {
		l.Add(Run{Outcome: Held, At: time.Unix(int64(i), 0)})
	}
	if len(l.Runs) != KeepRuns || l.Runs[0].Seq != 2*KeepRuns {
		t.Errorf("%d from %d", len(l.Runs), l.Runs[0].Seq)
	}
	slots := map[int]bool{}
	for _, r := range l.Runs {
		slots[r.Slot()] = true
	}
	if len(slots) != KeepRuns {
		t.Errorf("%d slots", len(slots))
	}
	l = NewLog(l.Runs)
	if first := l.Add(Run{Outcome: NotHeld}); first.Seq != 3*KeepRuns || first.Count != 1 {
		t.Errorf("%+v", first)
	}
	if again := l.Add(Run{Outcome: NotHeld}); again.Seq != 3*KeepRuns || again.Count != 2 {
		t.Errorf("%+v", again)
	}
}
