package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"roomgate/agent/goldentest"
	"roomgate/agent/outgoing"
	"roomgate/agent/problem"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func request() Request {
	return Request{OrganizationID: "org", URL: "https://hooks.example.com/in", Events: []string{BookingCreated, BookingEnd}, Secret: "a good secret"}
}

func wantField(t *testing.T, what string, err error, field string) {
	t.Helper()
	var p *problem.Error
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v, want it taken", what, err)
	case field != "" && (!errors.As(err, &p) || p.Field != field || p.Message == ""):
		t.Errorf("%s: %v, want a problem with %s", what, err, field)
	}
}

func TestNewNamesTheFieldAtFault(t *testing.T) {
	for _, c := range []struct {
		what  string
		edit  func(*Request)
		field string
	}{
		{"as it is", func(*Request) {}, ""},
		{"no organization", func(r *Request) { r.OrganizationID = "" }, "organization_id"},
		{"long organization", func(r *Request) { r.OrganizationID = strings.Repeat("x", 201) }, "organization_id"},
		{"no url", func(r *Request) { r.URL = "" }, "url"},
		{"long url", func(r *Request) { r.URL = "https://a/" + strings.Repeat("x", 2048) }, "url"},
		{"no events", func(r *Request) { r.Events = nil }, "events"},
		{"too many events", func(r *Request) { r.Events = make([]string, 10) }, "events"},
		{"an unknown event", func(r *Request) { r.Events[1] = "booking.exploded" }, "events[1]"},
		{"the test's event", func(r *Request) { r.Events[0] = EventTest }, "events[0]"},
		{"an event twice", func(r *Request) { r.Events[1] = BookingCreated }, "events[1]"},
		{"every event", func(r *Request) { r.Events = Events() }, ""},
		{"no secret", func(r *Request) { r.Secret = "" }, ""},
		{"a short secret", func(r *Request) { r.Secret = "1234567" }, "secret"},
		{"a long secret", func(r *Request) { r.Secret = Secret(strings.Repeat("x", 257)) }, "secret"},
		{"a secret of two lines", func(r *Request) { r.Secret = "12345678\n9" }, "secret"},
		{"a standard secret", func(r *Request) { r.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, ""},
		{"a broken standard secret", func(r *Request) { r.Secret = "whsec_not base64" }, "secret"},
		{"an empty standard secret", func(r *Request) { r.Secret = "whsec_==" }, "secret"},
	} {
		r := request()
		c.edit(&r)
		w, s, err := New("id", r, outgoing.Policy{}, noon)
		wantField(t, c.what, err, c.field)
		if err == nil && (w.State != Active || s.Current == "") {
			t.Errorf("%s: %+v, want an active webhook with a secret", c.what, w)
		}
	}
}

func TestCheckURL(t *testing.T) {
	open := outgoing.Policy{AllowPrivate: true, AllowHTTP: true}
	for _, c := range []struct {
		url        string
		strict, ok bool // taken by the strict policy, by the open one
	}{
		{"https://hooks.example.com", true, true},
		{"https://hooks.example.com:8443/a?b=c", true, true},
		{"https://93.184.216.34/", true, true},
		{"https://[2606:2800:220:1::1]:444/", true, true},
		{"http://hooks.example.com/", false, true},
		{"https://10.1.2.3/", false, true},
		{"https://192.168.1.2:9000/x", false, true},
		{"https://172.31.255.255/", false, true},
		{"https://[fd12::1]/", false, true},
		{"https://127.0.0.1/", false, false},
		{"https://127.8.9.10:8080/", false, false},
		{"https://0.0.0.0/", false, false},
		{"https://[::1]/", false, false},
		{"https://[::]/", false, false},
		{"https://[::ffff:127.0.0.1]/", false, false},
		{"https://[::ffff:10.0.0.1]/", false, false},
		{"https://[::127.0.0.1]/", false, false},
		{"https://[64:ff9b::7f00:1]/", false, false},
		{"https://[64:ff9b:1::1]/", false, false},
		{"https://[2002:7f00:1::]/", false, false},
		{"https://[2001:0:7f00:1::]/", false, false},
		{"https://[fe80::1]/", false, false},
		{"https://[fe80::1%25eth0]/", false, false},
		{"https://[fd12::1%25eth0]/", false, false},
		{"https://[ff02::1]/", false, false},
		{"https://169.254.169.254/latest", false, false},
		{"https://[fd00:ec2::254]/", false, false},
		{"https://[fd20:ce::254]/", false, false},
		{"https://168.63.129.16/", false, false},
		{"https://100.100.100.200/", false, false},
		{"https://192.0.0.192/", false, false},
		{"https://224.0.0.1/", false, false},
		{"https://255.255.255.255/", false, false},
		{"https://localhost/", false, false},
		{"https://LocalHost./", false, false},
		{"https://a.localhost:444/", false, false},
		{"https://user:pass@hooks.example.com/", false, false},
		{"https://hooks.example.com/#part", false, false},
		{"https://hooks.example.com:0/", false, false},
		{"https://hooks.example.com:70000/", false, false},
		{"https:///path", false, false},
		{"https:hooks.example.com", false, false},
		{"hooks.example.com", false, false},
		{"ftp://hooks.example.com/", false, false},
		{"file:///etc/passwd", false, false},
		{"gopher://x/", false, false},
		{"https://exa mple.com/", false, false},
		{"https://%zz/", false, false},
		{"\x00", false, false},
	} {
		for p, ok := range map[outgoing.Policy]bool{{}: c.strict, open: c.ok} {
			field := "url"
			if ok {
				field = ""
			}
			wantField(t, fmt.Sprintf("%s with %+v", c.url, p), CheckURL(p, c.url), field)
		}
	}
}

func TestWith(t *testing.T) {
	w, _, err := New("id", request(), outgoing.Policy{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	url, bad, events := "https://other.example.com/", "ftp://x", []string{DeviceAlert}
	active, disabled, failing := Active, Disabled, Failing
	w.State, w.Reason = Failing, "down"
	later, err := w.With(Change{URL: &url, Events: &events, State: &active}, outgoing.Policy{}, noon.Add(time.Hour))
	if err != nil {
		t.Fatalf("changed to %+v, %v", later, err)
	}
	goldentest.Values(t, "changed to", goldentest.Pairs{"URL": {later.URL, url}, "Events[0]": {later.Events[0], DeviceAlert},
		"State": {later.State, Active}, "Reason": {later.Reason, ""},
		"UpdatedAt": {later.UpdatedAt.Equal(noon.Add(time.Hour)), true}, "CreatedAt": {later.CreatedAt.Equal(noon), true}})
	if w.URL == url || w.Events[0] == DeviceAlert {
		t.Errorf("the change reached the old one: %+v", w)
	}
	if off, err := w.With(Change{State: &disabled}, outgoing.Policy{}, noon); err != nil || off.Wants(BookingCreated, "org") || off.Reason == "" {
		t.Errorf("disabled: %+v, %v", off, err)
	}
	same, err := w.With(Change{State: &failing}, outgoing.Policy{}, noon)
	if err != nil || same.Reason != "down" {
		t.Errorf("said what is so: %+v, %v", same, err)
	}
	_, err = w.With(Change{URL: &bad}, outgoing.Policy{}, noon)
	wantField(t, "a bad url", err, "url")
	_, err = later.With(Change{State: &failing}, outgoing.Policy{}, noon)
	wantField(t, "set to failing", err, "state")
}

func TestWants(t *testing.T) {
	w := Webhook{OrganizationID: "a", Events: []string{BookingCreated}, State: Failing}
	for _, c := range []struct {
		event, organization string
		want                bool
	}{{BookingCreated, "a", true}, {BookingCreated, "", true}, {BookingCreated, "b", false}, {BookingEnd, "a", false}} {
		if got := w.Wants(c.event, c.organization); got != c.want {
			t.Errorf("%s of %q: %v", c.event, c.organization, got)
		}
	}
}

func TestNothingShowsASecret(t *testing.T) {
	r := request()
	_, s, err := New("id", r, outgoing.Policy{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", s.Current, "request", r, "secrets", s)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "secret", s.Current)
	fmt.Fprintf(&b, "%v %+v %#v %s %q %x %d %v %+v %#v", s, s, s, s.Current, s.Current, s.Current, s.Current, r, &r, r)
	if strings.Contains(b.String(), "good") || strings.Contains(b.String(), fmt.Sprintf("%x", "good")) {
		t.Errorf("the secret shows in %s", &b)
	}
	kept, err := json.Marshal(s)
	var back Secrets
	if err != nil || json.Unmarshal(kept, &back) != nil || back != s {
		t.Errorf("stored as %s and read as %v", kept, back)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://a.example/b?c", "https://[::1]", "http://10.0.0.1:1", "https://0x7f.1/", "https://a@b", "https://①②⑦.0.0.1"} {
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, open bool) {
		p := outgoing.Policy{AllowPrivate: open, AllowHTTP: open}
		if err := CheckURL(p, text); err != nil {
			wantField(t, text, err, "url")
			return
		}
		u, err := parseURL(text)
		if err != nil || u.User != nil || !open && u.Scheme != "https" || strings.HasPrefix(u.Hostname(), "127.") && net.ParseIP(u.Hostname()) != nil {
			t.Errorf("%q was taken", text)
		}
	})
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"organization_id":"o","url":"https://a.example","events":["booking.created"],"secret":"whsec_AAAAAAAAAAA="}`))
	f.Add([]byte(`{"organization_id":"o","url":"https://10.0.0.1","events":["device.alert","device.alert"]}`))
	f.Add([]byte(`{"events":[null,""]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r Request
		if json.Unmarshal(text, &r) != nil {
			return
		}
		w, s, err := New("id", r, outgoing.Policy{}, noon)
		if err != nil {
			var p *problem.Error
			if !errors.As(err, &p) || p.Field == "" || len(p.Message) > 500 {
				t.Errorf("refused without a field or at length: %v", err)
			}
			return
		}
		body, err := TestPayload(w, noon)
		if err != nil || !json.Valid(body) {
			t.Errorf("%+v has the test payload %s, %v", w, body, err)
		}
		if len(s.Current.standardKey()) == 0 {
			t.Error("signs with an empty key")
		}
	})
}
