package edge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"roomgate/agent/auth"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
)

// TestPhones: a phone is let in once per code, for a while, by a key that no restart
// survives, and may no more than book.
func TestPhones(t *testing.T) {
	inTime(t, func(r *rig) {
		_, _, err := r.NewPhoneCode(t.Context(), "nowhere", "")
		r.refused("a code of no space", err, problem.NotFound, "meeting_space_id")
		display, _, err := r.register(Device{Kind: Display})
		if err != nil {
			t.Fatal(err)
		}
		code, life, err := r.NewPhoneCode(t.Context(), room, display.ID)
		if err != nil || life != phoneCodeLife {
			t.Fatal(life, err)
		}
		r.code(room) // a pairing code beside it ends neither
		p, secret, err := r.Register(t.Context(), strings.ToLower(code), Device{Kind: Display, Serial: "A1"}, here)
		if err != nil || p.Kind != Phone || p.SpaceID != room || p.Serial != "" {
			t.Fatalf("let in %+v, %v", p, err)
		}
		_, _, err = r.Register(t.Context(), code, Device{Kind: Display}, here)
		r.refused("a used code", err, problem.Forbidden, "claim_code")
		if who, ok := r.ByKey(secret); !ok || who.ID != p.ID || !r.Holds(p.ID) {
			t.Errorf("its key is of %+v", who)
		}
		if all := r.List(); len(all) != 1 || !slices.Equal(r.told(), []string{"edgeRegistered", EventPhoneCode, EventPhoneLetIn}) {
			t.Errorf("a phone is registered: %+v", all)
		}
		time.Sleep(PhoneLife)
		if _, ok := r.ByKey(secret); ok || r.Holds(p.ID) {
			t.Error("its time is never over")
		}
		late, _, _ := r.NewPhoneCode(t.Context(), room, display.ID)
		time.Sleep(phoneCodeLife)
		_, _, err = r.Register(t.Context(), late, Device{Kind: Display}, here)
		r.refused("a code that is too old", err, problem.Forbidden, "claim_code")
		var first string
		for i := range maxPhones + 1 {
			code, _, _ := r.NewPhoneCode(t.Context(), room, display.ID)
			p, _, err := r.Register(t.Context(), code, Device{Kind: Display}, here)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = p.ID
			}
		}
		if n := len(r.phones.all); n != maxPhones || r.Holds(first) {
			t.Errorf("%d phones are let in", n)
		}
		r.open()
		if r.Holds(p.ID) || len(r.phones.all) > 0 {
			t.Error("a restart keeps phones")
		}
	})
}

// letIn lets a phone in by a display of the room, and returns its id and key.
func (r *rig) letIn(display Device) (id, secret string) {
	r.Helper()
	code, _, err := r.NewPhoneCode(r.Context(), display.SpaceID, display.ID)
	if err != nil {
		r.Fatal(err)
	}
	p, secret, err := r.Register(r.Context(), code, Device{Kind: Display}, here)
	if err != nil {
		r.Fatal(err)
	}
	return p.ID, secret
}

// TestWhoLetsPhonesIn: a display of that very room does, nobody else, and the log
// names it.
func TestWhoLetsPhonesIn(t *testing.T) {
	inTime(t, func(r *rig) {
		display, _, _ := r.register(Device{Kind: Display, Name: "door"})
		board, _, _ := r.register(Device{Kind: Board})
		phone, _ := r.letIn(display)
		for what, c := range map[string][2]string{"nobody": {room, ""}, "a stranger": {room, "x"}, "a board": {room, board.ID},
			"a phone": {room, phone}, "the display of another room": {otherRoom, display.ID}} {
			_, _, err := r.NewPhoneCode(t.Context(), c[0], c[1])
			r.refused(what, err, problem.Forbidden, "")
		}
		told, _, err := r.o.Events.Find(eventlog.Filter{SpaceID: room, Limit: 100})
		if err != nil || len(told) != 4 {
			t.Fatalf("%d events, %v", len(told), err)
		}
		for _, e := range told[2:] {
			if text := string(e.Record); !strings.Contains(text, display.ID) {
				t.Errorf("%s does not name the display", text)
			}
		}
	})
}

// TestPhonesEndWithTheirDisplay: the phones of a display and its codes end with it, at
// once, and those of another do not.
func TestPhonesEndWithTheirDisplay(t *testing.T) {
	for what, end := range map[string]func(r *rig, d Device) error{
		"deleted": func(r *rig, d Device) error { return r.Delete(r.Context(), d.ID, "test") },
		"registered again": func(r *rig, d Device) error {
			_, _, err := r.register(Device{Kind: Display, Serial: d.Serial})
			return err
		},
		"moved": func(r *rig, d Device) error {
			_, _, err := r.Register(r.Context(), r.code(otherRoom), Device{Kind: Display, Serial: d.Serial}, here)
			return err
		},
		"its space is gone": func(r *rig, _ Device) error { r.gone = room; return nil },
	} {
		inTime(t, func(r *rig) {
			display, _, _ := r.register(Device{Kind: Display, Serial: "A1"})
			other, _, err := r.Register(t.Context(), r.code(otherRoom), Device{Kind: Display, Serial: "B1"}, here)
			if err != nil {
				t.Fatal(err)
			}
			id, secret := r.letIn(display)
			stays, _ := r.letIn(other)
			code, _, _ := r.NewPhoneCode(t.Context(), room, display.ID)
			if err := end(r, display); err != nil {
				t.Fatal(what, err)
			}
			if _, ok := r.ByKey(secret); ok || r.Holds(id) {
				t.Errorf("%s: its phone stays", what)
			}
			_, _, err = r.Register(t.Context(), code, Device{Kind: Display}, here)
			r.refused(what+": its code", err, problem.Forbidden, "claim_code")
			if !r.Holds(stays) {
				t.Errorf("%s: the phone of another display went too", what)
			}
		})
	}
}

// TestSharesOfSpaces: what one space does ends no code and no phone of another, nor
// its own pairing code, nor what lasts.
func TestSharesOfSpaces(t *testing.T) {
	inTime(t, func(r *rig) {
		lasting, _ := r.LastingCode(room)
		own, others := r.code(room), r.code(otherRoom)
		display, _, err := r.Register(t.Context(), lasting, Device{Kind: Display}, here)
		if err != nil {
			t.Fatal(err)
		}
		other, _, err := r.Register(t.Context(), others, Device{Kind: Display}, here)
		if err != nil {
			t.Fatal(err)
		}
		others = r.code(otherRoom)
		phone, _ := r.letIn(other)
		othersPhone, _, _ := r.NewPhoneCode(t.Context(), otherRoom, other.ID)
		first, _ := r.letIn(display)
		for range 204 {
			r.letIn(display)
		}
		for range 205 {
			if _, _, err := r.NewPhoneCode(t.Context(), room, display.ID); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.phones.all); n != maxPhones+1 || r.Holds(first) || !r.Holds(phone) {
			t.Errorf("%d phones are let in, the first %t, that of another room %t", n, r.Holds(first), r.Holds(phone))
		}
		if n := len(r.codes); n != maxPhoneCodes+4 {
			t.Errorf("%d codes are open", n)
		}
		for what, code := range map[string]string{"pairing": own, "lasting": lasting, "the pairing code of another": others, "the phone of another": othersPhone} {
			if _, _, err := r.Register(t.Context(), code, Device{Kind: Display}, here); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		before := len(r.codes)
		for range 3 {
			_, _, err := r.Register(t.Context(), lasting, Device{Kind: Display, SpaceID: otherRoom}, here)
			r.refused("another space", err, problem.Conflict, "meeting_space_id")
		}
		if n := len(r.codes); n != before {
			t.Errorf("a lasting code that was refused is there %d times more", n-before)
		}
	})
}

// TestLastingCodes: that of a demo's link is good again and again, beside others.
func TestLastingCodes(t *testing.T) {
	inTime(t, func(r *rig) {
		lasting, err := r.LastingCode(room)
		if err != nil {
			t.Fatal(err)
		}
		r.code(room)
		for range 3 {
			time.Sleep(codeLife)
			if d, _, err := r.Register(t.Context(), lasting, Device{Kind: Display}, here); err != nil || d.Kind != Display {
				t.Errorf("%+v, %v", d, err)
			}
		}
	})
}

// TestPermissionsOfKinds: a board books nothing, and a phone switches nothing.
func TestPermissionsOfKinds(t *testing.T) {
	for kind, want := range map[string]auth.Set{
		Display: auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead | auth.BookingsRead | auth.BookingsWrite,
		Board:   auth.DevicesRead | auth.DevicesWrite | auth.SpacesRead,
		Phone:   auth.SpacesRead | auth.BookingsRead | auth.BookingsWrite,
	} {
		if got := Permissions(kind); got != want {
			t.Errorf("a %s may %v", kind, got.Names())
		}
	}
}

// TestReports: what somebody at a door has reported is told, and is bounded by space.
func TestReports(t *testing.T) {
	inTime(t, func(r *rig) {
		report := func(space string) error {
			return r.Report(t.Context(), space, "light", map[string]string{"light": "offline"}, "door")
		}
		for range reports.Burst {
			if err := report(room); err != nil {
				t.Fatal(err)
			}
		}
		r.refused("one too many", report(room), problem.TooMany, "")
		if err := report(otherRoom); err != nil {
			t.Errorf("another room: %v", err)
		}
		if told := r.told(); len(told) != reports.Burst+1 || slices.ContainsFunc(told, func(s string) bool { return s != EventReported }) {
			t.Errorf("told %q", told)
		}
	})
}
