package booking

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// overWire is what the other side reads of records.
func overWire(t *rapid.T, records []Booking) []Booking {
	data, err := json.Marshal(records)
	if err != nil {
		t.Fatal(err)
	}
	var out []Booking
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// down is a message of the cloud.
type down struct {
	revision uint64
	snapshot bool
	records  []Booking
}

// world is the building, the cloud and the messages between them.
type world struct {
	t               *rapid.T
	now             time.Time
	skew            time.Duration // of the cloud's clock
	made            int
	building, cloud *replica
	have, revision  uint64 // the building's and the cloud's schedule revision
	up              [][]Booking
	down            []down
	allUp           [][]Booking // ever sent
	allDown         []down
	ended           map[string]bool // by the cloud's will
}

func newWorld(t *rapid.T) *world {
	return &world{t: t, now: monday.Add(9 * time.Hour), ended: map[string]bool{},
		skew:     time.Duration(rapid.IntRange(-10, 10).Draw(t, "skew")) * time.Minute,
		building: newReplica(t, "building"), cloud: newReplica(t, "cloud")}
}

func (w *world) sendUp(records []Booking) {
	if len(records) > 0 {
		w.up, w.allUp = append(w.up, records), append(w.allUp, records)
	}
}

// sendDown sends records under a new schedule revision.
func (w *world) sendDown(records []Booking) {
	if len(records) > 0 {
		w.revision++
		m := down{w.revision, false, records}
		w.down, w.allDown = append(w.down, m), append(w.allDown, m)
	}
}

func (w *world) snapshot() {
	m := down{w.revision, true, w.cloud.records()}
	w.down, w.allDown = append(w.down, m), append(w.allDown, m)
}

func (w *world) id() string {
	w.made++
	return fmt.Sprintf("%c%d", 'a'+rapid.IntRange(0, 3).Draw(w.t, "id"), w.made)
}

// inBuilding is one thing that happens in the building.
func (w *world) inBuilding() {
	b, now := w.building, w.now
	switch rapid.SampledFrom([]string{"create", "create", "walk-up", "check-in", "check-in", "extend", "edit", "end", "cancel", "release", "time",
		"calendar", "leave", "return"}).Draw(w.t, "building") {
	case "create":
		w.sendUp(b.create(w.id(), Local, now))
	case "calendar":
		w.sendUp(b.create(w.id(), Calendar, now))
	case "leave":
		w.sendUp(b.change(func(x Booking) (Booking, error) {
			if x.Source != Calendar || x.State != Booked {
				return x, nil
			}
			return x.Leave(now), nil
		}))
	case "return":
		w.sendUp(b.comeBack(now))
	case "walk-up":
		w.sendUp(b.create(w.id(), WalkUp, now))
	case "check-in":
		w.sendUp(b.change(func(x Booking) (Booking, error) { return x.CheckIn(b.rules, now) }))
	case "extend":
		w.sendUp(b.change(func(x Booking) (Booking, error) { return x.Extend(x.End.Add(15*time.Minute), b.rules, now) }))
	case "edit":
		w.sendUp(b.edit(now))
	case "end":
		w.sendUp(b.change(func(x Booking) (Booking, error) { return x.EndNow(now) }))
	case "cancel":
		w.sendUp(b.change(func(x Booking) (Booking, error) { return x.Cancel(now) }))
	case "release":
		w.sendUp(b.change(func(x Booking) (Booking, error) {
			if step, at := x.Due(Marks{Started: true, Warned: true}, b.rules); step != Release || at.After(now) {
				return x, nil
			}
			return x.ReleaseNow("nobody came", now), nil
		}))
	case "time":
		for _, x := range b.plan.Live() {
			if !now.Before(x.End) {
				after, err := x.EndNow(x.End)
				if err != nil {
					w.t.Fatal(err)
				}
				w.sendUp(b.put(after))
			}
		}
	}
}

// inCloud is one thing that happens in the cloud.
func (w *world) inCloud() {
	c, now := w.cloud, w.now.Add(w.skew)
	switch rapid.SampledFrom([]string{"create", "create", "edit", "edit", "cancel"}).Draw(w.t, "cloud") {
	case "create":
		made := c.create(w.id(), Cloud, now)
		for i := range made {
			made[i].CloudRevision = w.revision + 1
		}
		w.sendDown(c.put(made...))
	case "edit":
		w.sendDown(c.edit(now))
	case "cancel":
		after := c.change(func(x Booking) (Booking, error) { return x.Cancel(now) })
		for _, x := range after {
			w.ended[x.ID] = true
		}
		w.sendDown(after)
	}
}

// hearUp is the cloud hearing the building: what it did not know gets a cloud
// revision.
func (w *world) hearUp(records []Booking) (changed bool) {
	said := overWire(w.t, records)
	for i, s := range said {
		if _, known := w.cloud.plan.Get(s.ID); !known && s.CloudRevision == 0 {
			said[i].CloudRevision = w.revision + 1
		}
	}
	store, tell := w.cloud.merge(said)
	out := slices.Clone(store)
	for _, b := range tell {
		if !slices.ContainsFunc(store, func(x Booking) bool { return x.ID == b.ID }) {
			out = append(out, b)
		}
	}
	w.sendDown(out)
	return len(out) > 0
}

// hearDown is the building hearing the cloud: a gap and what is old are not
// applied.
func (w *world) hearDown(m down) (changed bool) {
	if m.snapshot && m.revision < w.have || !m.snapshot && m.revision != w.have+1 {
		return false
	}
	w.have = m.revision
	return w.apply(m)
}

// apply merges a message into the building, where nobody may be put out.
func (w *world) apply(m down) (changed bool) {
	said := overWire(w.t, m.records)
	for i := range said {
		if err := said[i].Complete(m.revision, w.now); err != nil {
			w.t.Fatal(err)
		}
	}
	for i, s := range said {
		var asks bool
		mine, known := w.building.plan.Get(s.ID)
		if said[i], asks = Heard(mine, known, s); asks {
			w.t.Fatalf("the building does not know its own check-in: %+v, and %+v is said", mine, s)
		}
	}
	before := w.building.plan.Live()
	said = KeepPresent(w.building.plan.Walk, said)
	store, tell := w.building.merge(said)
	w.sendUp(tell)
	for _, b := range before {
		if b.State != CheckedIn {
			continue
		}
		after, _ := w.building.plan.Get(b.ID)
		switch {
		case after.State == CheckedIn && !after.End.Before(b.End) && after.Start.Equal(b.Start):
		case after.State == Ended && w.ended[b.ID]:
		default:
			w.t.Fatalf("people were put out of %s: %+v, then %+v", b.ID, b, after)
		}
	}
	return len(store)+len(tell) > 0
}

// deliver lets a message arrive: in order, or in disorder, lost or twice.
func (w *world) deliver(wild bool) {
	which := rapid.IntRange(0, 1).Draw(w.t, "which")
	if which == 0 && len(w.up) > 0 {
		i, keep, lose := w.fate(wild, len(w.up))
		m := w.up[i]
		if !keep {
			w.up = slices.Delete(w.up, i, i+1)
		}
		if keep { // some senders put several into one
			m = append(slices.Clone(m), w.up[0]...)
		}
		if !lose {
			w.hearUp(m)
		}
	}
	if which == 1 && len(w.down) > 0 {
		i, keep, lose := w.fate(wild, len(w.down))
		m := w.down[i]
		if !keep {
			w.down = slices.Delete(w.down, i, i+1)
		}
		if !lose {
			w.hearDown(m)
		}
	}
}

func (w *world) fate(wild bool, n int) (i int, keep, lose bool) {
	if !wild {
		return 0, false, false
	}
	i = rapid.IntRange(0, n-1).Draw(w.t, "message")
	fate := rapid.IntRange(0, 5).Draw(w.t, "fate")
	return i, fate == 0, fate == 1
}

// live lets things happen and messages arrive.
func (w *world) live(wild bool) {
	for range rapid.IntRange(1, 60).Draw(w.t, "steps") {
		switch rapid.IntRange(0, 9).Draw(w.t, "step") {
		case 0, 1:
			w.inBuilding()
		case 2, 3:
			w.inCloud()
		case 4:
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 20).Draw(w.t, "minutes")) * time.Minute)
		case 5:
			if wild {
				w.snapshot()
			}
		default:
			w.deliver(wild)
		}
		if wild && rapid.IntRange(0, 50).Draw(w.t, "clock") == 50 {
			w.now = w.now.Add(-time.Hour)
		}
	}
}

func rev(b Booking) string {
	data, _ := json.Marshal(b)
	return string(data)
}

// equal wants both sides to have the same records.
func (w *world) equal() {
	ours, theirs := w.building.records(), w.cloud.records()
	if len(ours) != len(theirs) {
		w.t.Fatalf("the building has %d bookings and the cloud %d", len(ours), len(theirs))
	}
	for i := range ours {
		if !Same(ours[i], theirs[i]) {
			w.t.Fatalf("the sides differ:\nbuilding %s\ncloud    %s", rev(ours[i]), rev(theirs[i]))
		}
	}
}

// told wants every loser to have been told, and no two to have lost to each
// other.
func (w *world) losersTold() {
	edges := map[string][]string{}
	for _, b := range w.building.records() {
		if b.State != Displaced {
			continue
		}
		if !w.building.told[b.ID] {
			w.t.Fatalf("nobody in the building was told that %s is displaced", b.ID)
		}
		if b.Reason == "" {
			w.t.Fatalf("%s is displaced for no reason", b.ID)
		}
		for _, r := range []*replica{w.building, w.cloud} {
			for winner := range r.lost[b.ID] {
				if x, _ := w.building.plan.Get(winner); x.State == Displaced {
					edges[b.ID] = append(edges[b.ID], winner)
				}
			}
		}
	}
	for id := range edges {
		if reaches(edges, id, id, map[string]bool{}) {
			w.t.Fatalf("%s lost to somebody who lost to it: %v", id, edges)
		}
	}
}

func reaches(edges map[string][]string, from, to string, seen map[string]bool) bool {
	for _, next := range edges[from] {
		if next == to {
			return true
		}
		if !seen[next] {
			seen[next] = true
			if reaches(edges, next, to, seen) {
				return true
			}
		}
	}
	return false
}

// quiet sends everything again, both ways, until nothing changes any more.
func (w *world) quiet() {
	const most = 4
	for range most {
		w.up, w.down = nil, nil
		a := w.hearUp(w.building.records())
		w.snapshot()
		b := w.hearDown(w.down[len(w.down)-1])
		if !a && !b {
			return
		}
	}
	w.t.Fatalf("after %d exchanges of everything there is still something new", most)
}
