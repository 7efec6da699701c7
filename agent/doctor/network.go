package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"roomgate/agent/cloudlink"
	"roomgate/agent/config"
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
	return warn(name, "none: the building works, the cloud is not reached", "name a gateway in the network's configuration, see ip route")
}

// cloudBroker examines the way to the cloud: name, port, certificate.
func cloudBroker(ctx context.Context, x *examination) []Finding {
	const name = "cloud"
	if x.Config == nil || x.Config.Cloud.URL == "" {
		return nil
	}
	u, err := url.Parse(x.Config.Cloud.URL)
	if err != nil {
		return one(fail(name, "cloud.url is no address", "write it as mqtts://cloud.example.com"))
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, u.Hostname())
	if err != nil {
		return one(fail("cloud name", fmt.Sprintf("%s: %v", u.Hostname(), bare(err)), "see resolvectl query "+u.Hostname()+", and name a DNS server"))
	}
	resolved := good("cloud name", "%s is %s", u.Hostname(), strings.Join(ips, " "))
	return append(x.contested(), resolved, x.reach(ctx, u))
}

// contested says that another gateway seems to use the id of this one.
func (x *examination) contested() []Finding {
	if x.Building == nil || x.Building.CloudContested == 0 {
		return nil
	}
	return one(fail("gateway id", fmt.Sprintf("another gateway probably uses the id %s: the broker has closed the last %d connections of this one soon after they were up",
		x.Building.ID, x.Building.CloudContested),
		"find the other one, which may have the same seed, card or backup, and give one of the two another gateway.id: roomgate setup there, or roomgate restore --as"))
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
		return fail(name, address+" speaks no TLS 1.3", "ask whoever runs the broker for TLS 1.3, or set cloud.tls_min: 1.2 until then")
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
		f.Seen += fmt.Sprintf("; the gateway is connected, %d messages wait", x.Building.OutboxDepth)
	default:
		f.State, f.Fix = Fail, "see the gateway's log for what the broker says, and check cloud.username and password_file"
		f.Seen += fmt.Sprintf("; the gateway is not connected, %d messages wait", x.Building.OutboxDepth)
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
		return fail(name, listen+" is taken by another program", "see ss -ltnp, stop it, or listen elsewhere")
	case running:
		return fail(name, listen+" does not answer though the gateway runs", "start the gateway again with this configuration, and see its log")
	}
	return good(name, "%s is free", listen)
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
