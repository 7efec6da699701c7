package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on a board without the package

	"roomgate/agent/auth"
	"roomgate/agent/printable"
	"roomgate/agent/spelling"
	"roomgate/cloud/filter"
	"roomgate/drivers"
)

// at returns the place of a key, or of the nearest thing that holds it.
func (r *reader) at(key string) Origin {
	for key != "" {
		if o, ok := r.origins[key]; ok {
			return o
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return Origin{Name: r.file}
}

// refuse notes that the value of key is wrong, unless it could not be read
// and so was noted already.
func (r *reader) refuse(key, format string, args ...any) {
	if _, given := r.origins[key]; r.misspelt[key] && !given { // it is there, in other letters
		return
	}
	if r.misplaced[key] || slices.ContainsFunc(r.problems, func(p Problem) bool {
		rest, within := strings.CutPrefix(key, p.Key)
		return within && (p.Key == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
	}) {
		return
	}
	message := fmt.Sprintf(format, args...)
	if want, empty := strings.CutPrefix(message, `is "": `); empty {
		message = "is missing: " + want
	}
	if r.missed(key, message) {
		return
	}
	r.add(r.at(key), key, key+" "+message)
}

// check refuses values that no gateway can run with.
func (r *reader) check(c *Config) {
	if !isID(c.Gateway.ID) {
		r.refuse("gateway.id", "is %q: want 1 to 64 of a-z A-Z 0-9 . _ -", short(c.Gateway.ID))
	}
	r.name("gateway.name", c.Gateway.Name)
	if c.Data == "" {
		r.refuse("data", "is empty: want a folder")
	}
	r.address("http.listen", c.HTTP.Listen)
	r.httpTLS(c.HTTP)
	for i, o := range c.HTTP.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || o != u.Scheme+"://"+strings.ToLower(u.Host) {
			r.refuse(fmt.Sprintf("http.origins[%d]", i), "is %q: want one as https://book.example.com, without a path", short(o))
		}
	}
	for i, name := range c.HTTP.Names {
		if !isHostName(name) {
			r.refuse(fmt.Sprintf("http.names[%d]", i), "is %q: want the name alone, as rooms.example.com", short(name))
		}
	}
	r.cloud(c.Cloud)
	r.broker(c.Broker)
	r.choice("clock.trust", c.Clock.Trust, TrustAuto, TrustAlways, TrustNever)
	if c.Doors.Unsigned != "" {
		r.choice("doors.unsigned", c.Doors.Unsigned, DoorsRefuse, DoorsAllow)
	}
	span(r, "store.flush", c.Store.Flush, 0, time.Minute)
	span(r, "store.max_size", c.Store.MaxSize, 8<<20, 1<<30)
	span(r, "store.events", c.Store.Events, 100, 10_000_000)
	r.update(c.Update)
	r.smtp(c.SMTP)
	r.auth(c.Auth)
	r.users(c.Users)
	r.push(c.Push, c.Users)
	r.spaces(c.Spaces)
}

func (r *reader) cloud(c Cloud) {
	plain, guarded := false, false
	for _, one := range c.URL.All() {
		scheme, _, _ := strings.Cut(strings.ToLower(one), ":")
		plain, guarded = plain || scheme == "mqtt", guarded || scheme == "mqtts"
		r.cloudURL(c, one)
	}
	for _, one := range c.EnrolURL.All() {
		if !strings.HasPrefix(strings.ToLower(one), "mqtts:") || !IsBroker(one) {
			r.refuse("cloud.enrol_url", "is not an address of a broker with TLS: want mqtts://HOST[:PORT]")
		}
	}
	switch {
	case c.EnrolURL == "":
	case c.URL == "" || plain:
		r.refuse("cloud.enrol_url", "is there, and cloud.url names no broker that wants certificates: want one of mqtts://")
	case c.Acks == AcksBroker:
		r.refuse("cloud.acks", "is broker, and the broker of cloud.enrol_url drops what a gateway without a certificate says: want backend")
	}
	if plain && guarded { // whoever keeps the guarded ones away would get the password
		r.refuse("cloud.url", "has brokers of mqtt:// and of mqtts://: write mqtts:// for all of them")
	}
	r.choice("cloud.acks", c.Acks, AcksBackend, AcksBroker)
	span(r, "cloud.command_ttl", c.CommandTTL, time.Second, 24*time.Hour)
	span(r, "cloud.heartbeat", c.Heartbeat, time.Second, time.Hour)
	span(r, "cloud.reconnect_spread", c.ReconnectSpread, time.Second, time.Minute)
	span(r, "cloud.rate", c.Rate, 0, 100_000)
	if c.Password != "" && c.PasswordFile != "" {
		r.refuse("cloud.password_file", "and cloud.password are both there: keep one")
	}
	if c.Username == "" && (c.Password != "" || c.PasswordFile != "") {
		r.refuse("cloud.username", "is empty, and there is a password: name the user")
	}
	r.together("cloud.client_certificate", c.ClientCertificate, "cloud.client_key", c.ClientKey)
	r.choice("cloud.tls_min", c.TLSMin, TLS12, TLS13)
	if u, err := url.Parse(c.ClaimURL); c.ClaimURL != "" && (err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(c.ClaimURL) > 120) {
		r.refuse("cloud.claim_url", "is no address of a page: want https://HOST/PATH of at most 120 characters")
	}
}

func (r *reader) cloudURL(c Cloud, one string) {
	u, err := url.Parse(one)
	if err == nil && u.User != nil {
		r.refuse("cloud.url", "holds credentials: write them as cloud.username and cloud.password_file")
		return
	}
	if err != nil || !brokerURL(u) {
		advice := ""
		if near := NearBroker(one); near != "" {
			advice = ", did you mean " + near + "?"
		}
		r.refuse("cloud.url", "is not an address of a broker: want mqtt://HOST[:PORT] or mqtts://HOST[:PORT]%s", advice)
		return
	}
	if u.Scheme == "mqtt" && (c.CAFile != "" || c.ClientCertificate != "") {
		r.refuse("cloud.url", "is mqtt:// and there are certificates: want mqtts://")
	}
}

func (r *reader) broker(b Broker) {
	if b.Listen != "" && r.address("broker.listen", b.Listen) && len(b.Users) == 0 && !loopback(b.Listen) {
		r.refuse("broker.listen", "is %q and broker.users is empty: name users, or listen on 127.0.0.1", b.Listen)
	}
	seen := map[string]bool{}
	for i, u := range b.Users {
		key := fmt.Sprintf("broker.users[%d]", i)
		if !isID(u.Name) || seen[u.Name] {
			r.refuse(key+".name", "is %q: want 1 to 64 of a-z A-Z 0-9 . _ -, each name once", short(u.Name))
		}
		seen[u.Name] = true
		if (u.Password == "") == (u.PasswordFile == "") {
			r.refuse(key+".password", "or password_file: want exactly one of the two")
		}
		r.filters(key+".publish", u.Publish)
		r.filters(key+".subscribe", u.Subscribe)
	}
	r.tls("broker.tls", b.TLS)
	h := b.HomeAssistant
	switch {
	case h.Publish && b.Listen == "":
		r.refuse("broker.home_assistant.publish", "is true and there is no room broker: set broker.listen")
	case h.Commands && !h.Publish:
		r.refuse("broker.home_assistant.commands", "is true and nothing is published: set publish")
	case h.Doors && !h.Commands:
		r.refuse("broker.home_assistant.doors", "is true and commands are not taken: set commands")
	case !isID(h.Prefix):
		r.refuse("broker.home_assistant.prefix", "is %q: want 1 to 64 of a-z A-Z 0-9 . _ -", short(h.Prefix))
	}
}

// filters refuses what is no list of topic filters.
func (r *reader) filters(key string, all []string) {
	span(r, key, len(all), 0, 256)
	for i, f := range all {
		if !filter.Valid(f) {
			r.refuse(fmt.Sprintf("%s[%d]", key, i), "is %q: want a topic, + for any one level, # at the end for all below", short(f))
		}
	}
}

// loopback says whether nobody outside this machine reaches an address.
func loopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (r *reader) spaces(spaces []Space) {
	span(r, "spaces", len(spaces), 0, 256)
	ids, names, devices := map[string]bool{}, map[string]int{}, map[string]bool{}
	for i, s := range spaces {
		key := fmt.Sprintf("spaces[%d]", i)
		r.space(key, s)
		name := strings.ToLower(s.Name)
		if ids[s.ID] {
			r.refuse(key+".id", "is that of another space: want one of its own%s", newUUID(""))
		}
		if names[name] > 0 { // of a copy it is a second mistake: it keeps its name when it gets an id
			r.refuse(key+".name", "is %q, as spaces[%d] is called: want another name, which people tell it by", short(s.Name), names[name]-1)
		}
		ids[s.ID], names[name] = true, i+1
		r.devices(key, s.Devices, devices)
	}
}

func (r *reader) space(key string, s Space) {
	if !auth.IsUUID(s.ID) {
		r.refuse(key+".id", "is %q: want a UUID in small letters%s", short(s.ID), newUUID(s.ID))
	}
	if s.Name == "" || auth.IsUUID(s.Name) {
		r.refuse(key+".name", "is %q: want the name that people use", short(s.Name))
	}
	r.name(key+".name", s.Name)
	for _, f := range []struct{ name, value string }{{"customer_id", s.CustomerID}, {"created_by", s.CreatedBy}} {
		if f.value != "" && !auth.IsUUID(f.value) {
			r.refuse(key+"."+f.name, "is %q: want a UUID in small letters", short(f.value))
		}
	}
	r.organization(key, s.OrganizationID)
	for _, f := range []struct{ name, value string }{{"booking_app_url", s.BookingAppURL}, {"screen_saver_url", s.ScreenSaverURL}} {
		if u, err := url.Parse(f.value); f.value != "" && (err != nil || !u.IsAbs()) {
			r.refuse(key+"."+f.name, "is not a URL: want one like https://example.com/")
		}
	}
	if !IsZone(s.Timezone) {
		r.refuse(key+".timezone", "is %q: want an IANA name like Europe/Berlin%s", short(s.Timezone), nearZone(s.Timezone))
	}
	span(r, key+".capacity", s.Capacity, 0, 10_000)
	span(r, key+".slot_size", s.SlotSize, 5, 240)
	r.schedule(key, s)
	r.display(key, s.Display)
}

// name refuses one of several lines: others are refused where they are read.
func (r *reader) name(key, name string) {
	if !printable.Line(name) {
		r.refuse(key, "is %q: want it in one line, without tabs", short(name))
	}
}

// newUUID says to who wrote none where one comes from. One in capitals is one.
func newUUID(id string) string {
	if auth.IsUUID(strings.ToLower(id)) {
		return ""
	}
	return ", cat /proc/sys/kernel/random/uuid prints a new one"
}

func (r *reader) devices(key string, devices []Device, ids map[string]bool) {
	types := map[string]bool{}
	for i, d := range devices {
		at := fmt.Sprintf("%s.devices[%d]", key, i)
		r.device(at, d)
		switch {
		case ids[d.ID]: // a copy, of which the type is no second mistake
			r.refuse(at+".id", "is %q, which another device has: want an id of its own, or another name of its room where it is made of that", d.ID)
		case types[d.Type]:
			r.refuse(at+".type", "is %q like another device of the space: a space has one of each type", short(d.Type))
		}
		ids[d.ID], types[d.Type] = true, true
	}
}

func (r *reader) device(key string, d Device) {
	if !isID(d.ID) {
		r.refuse(key+".id", "is %q: want 1 to 64 of a-z A-Z 0-9 . _ -", short(d.ID))
	}
	r.choice(key+".type", d.Type, drivers.Types()...)
	r.driver(key, d)
	span(r, key+".poll", d.Poll, 50*time.Millisecond, time.Hour)
	span(r, key+".timeout", d.Timeout, 10*time.Millisecond, time.Minute)
	span(r, key+".alert.low", d.Alert.Low, -40, 85)
	span(r, key+".alert.high", d.Alert.High, d.Alert.Low, 85)
	if d.Alert.Low <= d.Alert.High {
		span(r, key+".alert.hysteresis", d.Alert.Hysteresis, 0, (d.Alert.High-d.Alert.Low)/2)
	}
	if d.Options == nil {
		return
	}
	err := d.Options.Check()
	var field *drivers.FieldError
	if errors.As(err, &field) {
		r.refuse(key+".options."+field.Field, "%s", field.Problem)
	} else if err != nil {
		r.refuse(key+".options", "are refused: %v", err)
	}
}

// driver refuses a driver that does not exist or moves another type.
func (r *reader) driver(key string, d Device) {
	var names []string
	for _, k := range r.kinds {
		if k.Name == d.Driver && k.Type != d.Type && slices.Contains(drivers.Types(), d.Type) { // else that is said already
			r.refuse(key+".driver", "is %q, which moves a %s, not a %s", d.Driver, k.Type, short(d.Type))
		}
		if k.Type == d.Type || !slices.Contains(drivers.Types(), d.Type) {
			names = append(names, k.Name)
		}
	}
	if near := spelling.Nearest(d.Driver, names); near != "" && !sameTail(d.Driver, near) {
		r.refuse(key+".driver", "is %q: want one of %s", short(d.Driver), strings.Join(names, ", "))
		return
	}
	r.choice(key+".driver", d.Driver, names...)
}

// sameTail says whether two drivers are near each other without what both begin with: a fan-relay is no
// fan-shelly.
func sameTail(a, b string) bool {
	head, tail, _ := strings.Cut(a, "-")
	other, wanted, both := strings.Cut(b, "-")
	return !both || head != other || spelling.Nearest(tail, []string{wanted}) != ""
}

// choice refuses a text that is not one of the choices.
func (r *reader) choice(key, value string, choices ...string) {
	if slices.Contains(choices, value) {
		return
	}
	if near := spelling.Nearest(value, choices); near != "" {
		r.refuse(key, "is %q: did you mean %q?", short(value), near)
		return
	}
	r.refuse(key, "is %q: want one of %s", short(value), strings.Join(choices, ", "))
}

// address refuses what nothing can listen on.
func (r *reader) address(key, value string) bool {
	_, port, err := net.SplitHostPort(value)
	if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
		r.refuse(key, "is %q: want HOST:PORT, as 127.0.0.1:1883 or :8080", short(value))
		return false
	}
	return true
}

// together refuses one of a pair without the other.
func (r *reader) together(a, va, b, vb string) {
	if va != "" && vb == "" {
		r.refuse(b, "is missing: %s needs it", a)
	} else if va == "" && vb != "" {
		r.refuse(a, "is missing: %s needs it", b)
	}
}

// span refuses a value below low or above high.
func span[T interface {
	~int | ~int64 | ~float64
}](r *reader, key string, value, low, high T) {
	if value < low || value > high {
		r.refuse(key, "is out of range: %v is not from %v to %v", value, low, high)
	}
}

// A number in a pattern costs as much memory as so many patterns, so lengths are counted beside it.
var (
	idPattern   = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)
	namePattern = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$`)
)

func isID(s string) bool { return len(s) <= 64 && idPattern.MatchString(s) }

func isHostName(s string) bool { return len(s) <= 253 && namePattern.MatchString(s) }
