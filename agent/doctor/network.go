package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
	"roomgate/agent/health"
	"roomgate/cloud"
)

// network examines the addresses and the way out.
func network(_ context.Context, x *examination) []Finding {
	return []Finding{addresses(), x.route()}
}

func addresses() Finding {
	const name = "addresses"
	all, err := net.Interfaces()
	if err != nil {
		return fail(name, err.Error(), "see ip address")
	}
	var seen []string
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		found, _ := i.Addrs()
		for _, a := range found {
			if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLinkLocalUnicast() {
				seen = append(seen, i.Name+" "+a.String())
			}
		}
	}
	if len(seen) == 0 {
		return warn(name, "none but this machine's own: room displays cannot reach the gateway", "connect the network, see ip address")
	}
	return good(name, "%s", strings.Join(seen, ", "))
}

// route looks for a default route (proc(5): /proc/net/route, and its sibling
// of version 6).
func (x *examination) route() Finding {
	const name = "default route"
	for line := range strings.Lines(x.read("proc/net/route")) {
		if f := strings.Fields(line); len(f) > 7 && f[1] == "00000000" && f[7] == "00000000" {
			return good(name, "by %s", f[0])
		}
	}
	for line := range strings.Lines(x.read("proc/net/ipv6_route")) {
		f := strings.Fields(line)
		if len(f) > 9 && strings.Trim(f[0], "0") == "" && f[1] == "00" && f[9] != "lo" {
			return good(name, "by %s", f[9])
		}
	}
	return warn(name, "none: the building works, the cloud is not reached", "name the router of the building in the network's configuration, see ip route")
}

// cloudBroker examines the way to the cloud: name, port, certificate.
func cloudBroker(ctx context.Context, x *examination) []Finding {
	if x.simulated() || x.Quiet || x.Config == nil || x.Config.Cloud.URL == "" {
		return slices.Concat(cloudCertificate(x.Building), x.contested(), x.unnamed())
	}
	found := slices.Concat(cloudCertificate(x.Building), x.contested(), x.troubled())
	for _, one := range x.Config.Cloud.URL.All() {
		found = append(found, x.broker(ctx, one)...)
	}
	return append(found, x.acked()...)
}

// cloudCertificate is what the running gateway says of the certificate that it gets from its cloud.
func cloudCertificate(b *Building) []Finding {
	if b == nil || b.CloudCertificate == nil {
		return nil
	}
	c := b.CloudCertificate
	state := map[string]State{"good": OK, "renewing": OK, "wanted": Warn, "kept": Warn}[c.State]
	return one(Finding{"cloud certificate", cmp.Or(state, Fail), c.Seen, c.Fix})
}

// broker examines the way to one broker.
func (x *examination) broker(ctx context.Context, address string) []Finding {
	u, err := url.Parse(address)
	if err != nil {
		return one(fail("cloud", "cloud.url is no address", "write it as mqtts://cloud.example.com"))
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return one(fail("cloud name", fmt.Sprintf("%s: %v", u.Hostname(), bare(err)), "see getent hosts "+u.Hostname()+", and name a DNS server"))
	}
	way := x.reach(ctx, u)
	if way.State == Fail && x.Building != nil && x.Building.CloudConnected {
		way.State = Warn // it is at another one
	}
	return []Finding{good("cloud name", "%s is %s", u.Hostname(), strings.Join(ips, " ")), way}
}

// acked says what it means that the word of the broker is enough.
func (x *examination) acked() []Finding {
	if seen, fix := x.Config.Cloud.AcksAdvice(); seen != "" {
		return one(warn("cloud acks", seen, fix))
	}
	return nil
}

// unnamed is the link of a running gateway whose broker no configuration here names,
// as that of a demo, which has one of its own.
func (x *examination) unnamed() []Finding {
	switch found := x.troubled(); {
	case found != nil || x.Building == nil || x.Building.CloudContested != 0:
		return found
	case x.Building.CloudConnected:
		return one(good("cloud link", "the gateway is connected, %s", x.Building.backlog()))
	}
	return nil
}

// backlog words what waits for the cloud.
func (b *Building) backlog() string { return wait(int(b.OutboxDepth), "message") } //nolint:gosec // as many as rows on a card

// LineCut is what a demo meets whose line to the cloud was cut.
const LineCut = "the line to the cloud is cut"

// troubled is what the running gateway met at the broker, which knows more than who
// looks for a moment.
func (x *examination) troubled() []Finding {
	const name = "cloud link"
	if x.Building == nil || x.Building.CloudTrouble == nil || x.Building.CloudContested != 0 {
		return nil
	}
	t := x.Building.CloudTrouble
	why, todo := t.Seen+inARow(t.Times)+" ("+t.Error+")", cloudFix(x, t)
	if ours := t.Cause == string(cloud.CauseLogin) || t.Cause == string(cloud.CauseMisconfigured); ours && x.Building.pending().Changed && !x.Building.CloudConnected {
		why, todo = why+"; it runs with the configuration of before", x.again()
	}
	cut := x.simulated() && (strings.Contains(t.Error, LineCut) || strings.Contains(t.Error, net.ErrClosed.Error()))
	if cut {
		todo = "roomgate sim cloud mend, if it was cut"
	}
	lasts := length(x.Building.Clock.Now.Sub(t.Since))
	switch {
	case !x.Building.CloudConnected:
		return one(fail(name, fmt.Sprintf("the gateway is not connected, and no connection has lasted a minute since %s (%s): %s",
			t.Since.UTC().Format(time.RFC3339), lasts, why), todo))
	case t.Cause == string(cloud.CauseUnacknowledged):
		return one(fail(name, fmt.Sprintf("the gateway is connected, and for %s nothing was acknowledged: %s", lasts, t.Seen), todo))
	case cut || x.simulated() && t.Times < 3: // its line was cut, and is mended
		return one(good(name, "the gateway is connected again; before, at %s, %s", t.At.UTC().Format(time.RFC3339), why))
	case t.Times < 3: // it was once, and is over
		return one(warn(name, fmt.Sprintf("the gateway is connected again; before, at %s, %s", t.At.UTC().Format(time.RFC3339), why), todo))
	}
	return one(fail(name, fmt.Sprintf("the gateway has lost its connection again and again for %s: %s", lasts, why), todo))
}

// cloudFix is what to do about a trouble. The names of a log-in that is refused are known here.
func cloudFix(x *examination, t *health.Trouble) string {
	if t.Cause == string(cloud.CauseCertificate) && x.Building != nil && x.Building.CloudCertificate != nil {
		return cmp.Or(x.Building.CloudCertificate.Fix, t.Fix)
	}
	if t.Cause != string(cloud.CauseLogin) || x.Config == nil || x.Config.Cloud.Username == "" {
		return t.Fix
	}
	c, place := x.Config.Cloud, opened(x, x.ConfigFile)+" as cloud.password"
	if c.PasswordFile != "" {
		place = typedInto(x, cmp.Or(config.CredentialSource(c.PasswordFile), c.PasswordFile))
	}
	return fmt.Sprintf("see that the broker knows the user %s and lets it write up/presence; write the right password into %s, then %s", c.Username, place, x.restart())
}

// inARow is how often something was, if that was more than once.
func inARow(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times in a row", n)
}

// length is how long something lasts, in the largest unit of which it has two.
func length(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return count(max(0, int(d.Seconds())), "second")
	case d < 2*time.Hour:
		return count(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour")
	}
	return count(int(d.Hours()/24), "day")
}

// contested says that another gateway seems to use the id of this one.
func (x *examination) contested() []Finding {
	if x.Building == nil || x.Building.CloudContested == 0 {
		return nil
	}
	return one(fail("gateway id", fmt.Sprintf("another gateway probably uses the id %s: the broker has closed the last %d connections of this one soon after they were up",
		x.Building.ID, x.Building.CloudContested),
		"find the other one, which may have the same seed, card or backup, and give one of the two another gateway.id: sudo roomgate setup there, or sudo roomgate restore --as"))
}

// bare is an error of the resolver without what was asked.
func bare(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return errors.New(dns.Err)
	}
	return err
}

func (x *examination) reach(ctx context.Context, u *url.URL) Finding {
	const name = "cloud broker"
	secure := u.Scheme == "mqtts"
	port := cmp.Or(u.Port(), map[bool]string{true: "8883", false: "1883"}[secure])
	address := net.JoinHostPort(u.Hostname(), port)
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return fail(name, fmt.Sprintf("%s: %v", address, err), "check cloud.url, and that the building's firewall lets tcp to port "+port+" pass")
	}
	defer conn.Close()
	if !secure {
		return x.linked(good(name, "%s answers", address))
	}
	c := x.Config.Cloud
	t, err := cloudlink.TLS(cloudlink.Settings{CAFile: c.CAFile, ClientCertificate: c.ClientCertificate, ClientKey: c.ClientKey, TLS12: c.TLSMin == config.TLS12})
	if err == nil {
		t.ServerName = u.Hostname()
		err = tls.Client(conn, t).HandshakeContext(ctx)
	}
	if err != nil && strings.Contains(err.Error(), "protocol version") {
		return fail(name, address+" speaks no TLS 1.3", "ask the people who run the broker for TLS 1.3, or set cloud.tls_min: 1.2 until then")
	}
	if err != nil {
		return fail(name, fmt.Sprintf("%s: %v", address, err), "check the clock, cloud.ca_file and the client certificate")
	}
	return x.linked(good(name, "%s answers, its certificate is good", address))
}

// linked adds what the running gateway says of its own session.
func (x *examination) linked(f Finding) Finding {
	switch {
	case x.Building == nil:
	case x.Building.CloudConnected:
		f.Seen += "; the gateway is connected, " + x.Building.backlog()
	case x.Building.CloudTrouble != nil: // cloud link or gateway id says why, and what to do
		f.Seen += "; the gateway is not connected, " + x.Building.backlog()
	case x.Building.pending().Changed:
		f.State, f.Fix = Fail, x.again()
		f.Seen += "; the gateway is not connected, for it runs with the configuration of before"
	default:
		f.State, f.Fix = Fail, "see the gateway's log for what the broker says, and check cloud.username and password_file"
		f.Seen += "; the gateway is not connected, " + x.Building.backlog()
	}
	return f
}

// listeners examines the addresses that the gateway listens on.
func listeners(ctx context.Context, x *examination) []Finding {
	if x.Config == nil || x.simulated() { // a demo may listen elsewhere
		return nil
	}
	found := one(x.listener(ctx, "http", x.told("listen", x.Config.HTTP.Listen)))
	if secure := x.Config.HTTP.TLS.Listen; secure != "" {
		found = append(found, x.listener(ctx, "https", secure))
	}
	if room := x.told("broker", x.Config.Broker.Listen); room != "" {
		found = append(found, x.listener(ctx, "room broker", room))
	}
	return found
}

// told is what the running gateway was started with for a flag, in its command
// line or its environment (proc(5)), or else what is configured.
func (x *examination) told(flag, configured string) string {
	if x.ProcessID == 0 {
		return configured
	}
	process := fmt.Sprintf("proc/%d/", x.ProcessID)
	words := strings.Split(x.read(process+"cmdline"), "\x00")
	for i, w := range words {
		if value, ok := strings.CutPrefix(w, "--"+flag+"="); ok {
			return value
		}
		if w == "--"+flag && i+1 < len(words) {
			return words[i+1]
		}
	}
	for v := range strings.SplitSeq(x.read(process+"environ"), "\x00") {
		if value, ok := strings.CutPrefix(v, "ROOMGATE_"+strings.ToUpper(flag)+"="); ok && value != "" {
			return value
		}
	}
	return configured
}

func (x *examination) listener(ctx context.Context, name, listen string) Finding {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fail(name, listen+" is no address", "write it as :8080")
	}
	err = dialed(ctx, host, port)
	switch running := x.Building != nil; {
	case port == "0":
		return good(name, "%s, any free port", listen)
	case err == nil && running:
		return good(name, "%s answers", listen)
	case err == nil:
		return fail(name, listen+" is taken by another program", "run sudo ss -ltnp, stop it, or listen elsewhere")
	case running:
		return fail(name, listen+" does not answer though the gateway runs", x.again()+", and see its log")
	case tooLow(x, port):
		return fail(name, fmt.Sprintf("%s: a port below %d takes a right that %s does not have", listen, firstFreePort(x), x.user.Name),
			"write one as :8080 into "+x.ConfigFile+", or give it CAP_NET_BIND_SERVICE by sudo systemctl edit roomgate, as AmbientCapabilities and CapabilityBoundingSet")
	}
	return good(name, "%s is free", listen)
}

// tooLow says whether the service is not let have a port.
func tooLow(x *examination, port string) bool {
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n < firstFreePort(x) && x.Service.Loaded && !x.Service.MayListen()
}

// firstFreePort is the first port for which nobody needs a right (ip(7)).
func firstFreePort(x *examination) int {
	n, err := strconv.Atoi(x.read("proc/sys/net/ipv4/ip_unprivileged_port_start"))
	if err != nil {
		return 1024
	}
	return n
}

// dialed connects to a listener and hangs up. One on every address is tried by
// number: localhost is a name, which a small system may not have.
func dialed(ctx context.Context, host, port string) (err error) {
	hosts := []string{host}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		hosts = []string{"127.0.0.1", "::1"}
	}
	for _, h := range hosts {
		var d net.Dialer
		var conn net.Conn
		if conn, err = d.DialContext(ctx, "tcp", net.JoinHostPort(h, port)); err == nil {
			conn.Close()
			return nil
		}
	}
	return err
}
