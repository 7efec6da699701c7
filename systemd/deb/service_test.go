//go:build integration

package deb

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// probe runs in the booted Debian. Each step prints its name, what it saw, and
// lies between two lines of dashes.
const probe = `#!/bin/bash
step() { printf -- '\n---\n%s\n' "$1"; }
pid() { systemctl show -P MainPID roomgate; }
space='{id: 7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01, name: Aurora}'
config() { printf '%s\n' 'gateway: {id: gateway}' "http: {listen: ':PORT'}" "$@" >/etc/roomgate/gateway.yaml; }
post() {
	exec 3<>/dev/tcp/127.0.0.1/PORT
	printf 'POST %s HTTP/1.0\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$1" "$key" ${#2} "$2" >&3
	tail -n 1 <&3
}
export DEBIAN_FRONTEND=noninteractive
mkdir -p /etc/roomgate
config "spaces: [$space]"
step install; dpkg --force-confold -i /debs/roomgate_1.0.deb </dev/null >/log 2>&1; echo $? $(systemctl is-active roomgate) $(systemctl is-enabled roomgate)
key=$(roomgate key create probe 2>/dev/null)
step addresses; code=$(post /meetingspace/7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01/claim-code '{}' | grep -o '[0-9A-Z]\{4\}-[0-9A-Z]\{4\}' | head -n 1); post /edge/register "{\"claim_code\":\"$code\",\"kind\":\"board\",\"name\":\"b\",\"serial\":\"1\"}"
step credentials; (umask 077; echo secret >/etc/roomgate/credentials/hub)
config "spaces: [$space]" 'broker: {listen: "127.0.0.1:0", users: [{name: hub, password_file: "${CREDENTIALS_DIRECTORY}/secret_hub"}]}'
systemctl restart roomgate; echo $(systemctl is-active roomgate) $(stat -c '%a %U' /run/credentials/roomgate.service/secret_hub)
step reload; before=$(pid); sed -i 's/Aurora/Borealis/' /etc/roomgate/gateway.yaml; systemctl reload roomgate; roomgate space list | grep -o Borealis; [ "$(pid)" = "$before" ] && echo same process
step 'reload refused'; sed -i 's/name: Borealis/nam: Corvus/' /etc/roomgate/gateway.yaml; systemctl reload roomgate >/dev/null 2>&1; echo $? $(systemctl is-active roomgate)
systemctl show -P StatusText roomgate | grep -o 'was not reloaded'; roomgate reload 2>&1 | grep -o 'unknown key "nam"'; [ "$(pid)" = "$before" ] && echo same process
sed -i 's/nam: Corvus/name: Corvus/' /etc/roomgate/gateway.yaml; systemctl reload roomgate; echo $?; roomgate space list | grep -o Corvus
step upgrade; dpkg -i /debs/roomgate_1.1.deb </dev/null >/log 2>&1; echo $? $(systemctl is-active roomgate); [ "$(pid)" != "$before" ] && echo new process
step refused; before=$(pid); echo 'oops: 1' >>/etc/roomgate/gateway.yaml; dpkg -i /debs/roomgate_1.2.deb </dev/null >/log 2>&1; echo $? $(systemctl is-active roomgate); [ "$(pid)" = "$before" ] && echo same process
sed -i /oops/d /etc/roomgate/gateway.yaml; dpkg --configure -a >/log 2>&1; echo $? $(systemctl is-active roomgate); [ "$(pid)" != "$before" ] && echo new process
step environment; mkdir -p /etc/systemd/system/roomgate.service.d; printf '[Service]\nEnvironment=ROOMGATE_GATEWAY=by-drop-in\n' >/etc/systemd/system/roomgate.service.d/a.conf; systemctl daemon-reload
sed -i /gateway:/d /etc/roomgate/gateway.yaml; dpkg --force-confold -i /debs/roomgate_1.2.deb </dev/null >/log 2>&1; echo $? $(systemctl is-active roomgate)
step 'wrong seed'; mkdir -p /boot; echo 'gatway: {id: x}' >/boot/roomgate-seed.yaml; systemctl restart roomgate; echo $(systemctl is-active roomgate-seed roomgate); grep -o 'nearest known key is "gateway"' /etc/issue.d/roomgate.seed.issue
rm /boot/roomgate-seed.yaml; systemctl restart roomgate; systemctl is-active roomgate
step 'credentials gone'; rm -r /etc/roomgate/credentials; config "spaces: [$space]"; systemctl restart roomgate; systemctl is-active roomgate
step disabled; systemctl disable --now roomgate 2>/dev/null; dpkg -i /debs/roomgate_1.2.deb >/log 2>&1; echo $? $(systemctl is-active roomgate) $(systemctl is-enabled roomgate)
step remove; systemctl start roomgate; dpkg -r roomgate >/log 2>&1; echo $? $(systemctl is-active roomgate) $(ls /var/lib/roomgate/roomgate.db)
step log; cat /log; journalctl -u roomgate --no-pager | tail -n 40
systemctl poweroff
`

// TestService lives through the same with a systemd that runs, and looks at the
// service: that it starts in its sandbox, keeps running where it should, and
// gets its passwords. It needs cgroups to boot a container with.
func TestService(t *testing.T) {
	needs(t, "systemd-nspawn")
	r := newRoot(t)
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil { // the container, which has our network, listens there
		t.Fatal(err)
	}
	for _, version := range []string{"1.0", "1.1", "1.2"} {
		r.give(t, version, nil)
	}
	r.write(t, "/probe", 0o755, strings.ReplaceAll(probe, "PORT", port))
	r.write(t, "/etc/systemd/system/probe.service", 0o644, "[Service]\nType=oneshot\nExecStart=/probe\nStandardOutput=file:/out\nStandardError=file:/out\n")
	r.write(t, "/etc/systemd/system/default.target", 0o644, "[Unit]\nRequires=multi-user.target probe.service\nAfter=multi-user.target\n")
	seen := r.boot(t)
	for step, want := range map[string]string{
		"install":          "0 active enabled",
		"credentials":      "active 400 roomgate",
		"reload":           "Borealis\nsame process",
		"reload refused":   "1 active\nwas not reloaded\nunknown key \"nam\"\nsame process\n0\nCorvus",
		"upgrade":          "0 active\nnew process",
		"refused":          "1 active\nsame process\n0 active\nnew process",
		"environment":      "0 active",
		"wrong seed":       "failed active\nnearest known key is \"gateway\"\nactive",
		"credentials gone": "active",
		"disabled":         "0 inactive disabled",
		"remove":           "0 inactive /var/lib/roomgate/roomgate.db",
	} {
		if seen[step] != want {
			t.Errorf("%s: %q, want %q", step, seen[step], want)
		}
	}
	if own := addresses(t); len(own) > 0 && !slices.ContainsFunc(own, func(a string) bool { return strings.Contains(seen["addresses"], `"`+a+`"`) }) {
		t.Errorf("boards in the rooms are told %s, this machine has %q", seen["addresses"], own)
	}
	if t.Failed() {
		t.Log(seen["log"])
	}
}

// boot starts the root with its systemd, waits until it is off again and
// returns what the probe saw, by step.
func (r *root) boot(t *testing.T) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemd-nspawn", "--directory="+r.dir, fmt.Sprintf("--machine=roomgate-%d", os.Getpid()),
		"--register=no", "--keep-unit", "--link-journal=no", "--resolv-conf=off", "--timezone=off", "--boot")
	said, err := cmd.CombinedOutput()
	if !r.exists("/out") {
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		t.Skipf("systemd does not boot below a folder here: %v, %s", err, lines[len(lines)-1])
	}
	seen := map[string]string{}
	for _, part := range regexp.MustCompile(`(?m)^---\n`).Split(r.read(t, "/out"), -1) {
		name, what, _ := strings.Cut(part, "\n")
		seen[name] = strings.TrimSpace(what)
	}
	return seen
}

// addresses are those of this machine that others may reach it at.
func addresses(t *testing.T) (own []string) {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			own = append(own, ip.String())
		}
	}
	return own
}
