package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/backup"
	"roomgate/agent/config"
	"roomgate/agent/qr"
	"roomgate/agent/tlsauthority"

	"roomgate/cmd/roomgate/show"
)

const tlsInitHelp = `Makes an authority of this building's own, which certifies the gateway to phones
and displays, where no certificate of another authority is to be had.

People install its root once. It is limited to the names and the private
addresses of this gateway, and the key of the root is forgotten at once: anybody who
steals the card can pretend to be this gateway, and nobody else. The gateway
renews its own certificate before it ends; the root holds for ten years.

Without flags the limits are the hostname (with .local if it has no domain) and
the private addresses that the machine has now. --name and --address take their
place. Give a network, as 192.168.1.0/24, where the gateway's address may change:
the authority can then certify every machine of that network.

Then write authority: true below http.tls or broker.tls of the configuration and
start the gateway again. With --replace another authority takes the place of one
that is there: every phone needs the new root. A gateway that runs takes it
within a minute.`

func newTLS() *cobra.Command {
	initial := &cobra.Command{Use: "init", Short: "make an authority of the building's own", Long: tlsInitHelp, Args: cobra.NoArgs, RunE: action(tlsInit)}
	initial.Flags().StringSlice("name", nil, "`NAME` by which the gateway is reached, as roomgate.local")
	initial.Flags().StringSlice("address", nil, "private `ADDRESS` of the gateway, or a network that it is in")
	initial.Flags().Bool("replace", false, "make another one, though every phone then needs the new root")
	status := &cobra.Command{Use: "status", Short: "show the building's own authority, and its root as a QR code", Args: cobra.NoArgs, RunE: action(tlsStatus)}
	for _, cmd := range []*cobra.Command{initial, status} {
		cmd.Flags().String("config", "", withVariable("configuration `FILE`, which says where the data is and where the root is fetched", "config"))
		cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
		outputFlag(cmd)
	}
	return group("tls", "HTTPS and TLS with the building's own authority", initial, status)
}

func tlsInit(cmd *cobra.Command, _ []string) error {
	limits, err := tlsLimits(cmd)
	if err != nil {
		return err
	}
	data := dataFolder(cmd)
	if _, err := os.Stat(data); err != nil {
		return fail(exitFailed, "there is no %s: name the gateway's directory with --data", data)
	}
	building := "Roomgate"
	if c, err := loadConfig(cmd); err == nil {
		building = "Roomgate " + cmp.Or(c.Gateway.Name, c.Gateway.ID)
	}
	owned := func(path string) error { return backup.GiveTo(path, data) }
	a, err := tlsauthority.Make(data, short64(building), limits, time.Now(), flagged(cmd, "replace"), owned)
	if err != nil {
		return err
	}
	return showAuthority(cmd, a)
}

// short64 is a text that fits into the name of a certificate (RFC 5280, ub-common-name).
func short64(text string) string {
	const most = 64 - len(", issuing")
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}

// tlsLimits are what flags say, or else what the machine has.
func tlsLimits(cmd *cobra.Command) (l tlsauthority.Limits, err error) {
	names, _ := cmd.Flags().GetStringSlice("name")
	addresses, _ := cmd.Flags().GetStringSlice("address")
	if len(names) == 0 && len(addresses) == 0 {
		return tlsauthority.LimitsOf(tlsauthority.Found()), nil
	}
	for _, name := range names {
		l.Names = append(l.Names, strings.ToLower(name))
	}
	for _, text := range addresses {
		p, err := netip.ParsePrefix(text)
		if ip, e := netip.ParseAddr(text); e == nil {
			p, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return l, fail(exitUsage, "--address %q is no address: want one as 192.168.1.20, or a network as 192.168.1.0/24", text)
		}
		l.Addresses = append(l.Addresses, p)
	}
	return l, nil
}

func tlsStatus(cmd *cobra.Command, _ []string) error {
	a, err := tlsauthority.Load(dataFolder(cmd))
	if err != nil {
		return err
	}
	return showAuthority(cmd, a)
}

// shownAuthority is an authority with where its root is fetched.
type shownAuthority struct {
	tlsauthority.Status
	URL string `json:"url"` // empty: the configuration has no door that uses it
}

func showAuthority(cmd *cobra.Command, a *tlsauthority.Authority) error {
	s := shownAuthority{Status: a.Status(tlsauthority.Found())}
	c, err := loadConfig(cmd)
	if err == nil && (c.HTTP.TLS.Authority || c.Broker.TLS.Authority) {
		s.URL = rootURL(c.HTTP, s.Status)
	}
	if wantsJSON(cmd) {
		return show.JSON(cmd.OutOrStdout(), s)
	}
	return errors.Join(s.print(cmd.OutOrStdout()), s.draw(cmd.OutOrStdout()))
}

// rootURL is where a phone fetches the root; it does not trust HTTPS yet, so it is
// sent to HTTP where there is that.
func rootURL(h config.HTTP, s tlsauthority.Status) string {
	host, port, err := net.SplitHostPort(h.Listen)
	ip := net.ParseIP(host)
	hosts := slices.Concat(s.Addresses, s.Names)
	if s.Certificate != nil {
		hosts = slices.Concat(s.Certificate.Addresses, s.Names)
	}
	if host == "" || ip != nil && ip.IsUnspecified() {
		host = ""
		if len(hosts) > 0 {
			host = hosts[0]
		}
	}
	if err != nil || host == "" {
		return ""
	}
	scheme := "http"
	if !h.TLS.Plain() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/ca.crt"
}

func (s shownAuthority) print(w io.Writer) (err error) {
	line := func(format string, args ...any) {
		_, e := fmt.Fprintf(w, format+"\n", args...)
		err = errors.Join(err, e)
	}
	line("root certificate %s", s.Root)
	line("fingerprint SHA-256 %s", s.Fingerprint)
	line("it may certify %s", strings.Join(slices.Concat(s.Names, s.Addresses), ", "))
	line("until %s", s.Until.Format(time.DateOnly))
	switch c := s.Certificate; {
	case c == nil:
		line("no certificate of the gateway: %s", s.Trouble)
	default:
		line("certificate of the gateway %s, until %s", strings.Join(slices.Concat(c.Names, c.Addresses), ", "), c.Until.Format(time.DateOnly))
	}
	if len(s.Outside) > 0 {
		line("not in it, though the gateway has it now: %s; with --replace and --name or --address it comes in", strings.Join(s.Outside, ", "))
	}
	if s.URL == "" {
		line("nothing uses it yet: write authority: true below http.tls or broker.tls of the configuration, and start the gateway again")
		return err
	}
	line("phones fetch the root at %s: install it, and compare the fingerprint first", s.URL)
	return err
}

// draw draws the address of the root on a terminal.
func (s shownAuthority) draw(w io.Writer) error {
	screen, _ := w.(*os.File)
	if s.URL == "" || screen == nil || !show.IsTerminal(screen) {
		return nil
	}
	code, err := qr.New(s.URL)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, code.Terminal())
	return err
}
