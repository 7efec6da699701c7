//go:build lab

package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// configOfCuts is a building with a room and nothing else: what is proved is the
// disk.
const configOfCuts = `
gateway: {id: cuts}
data: /data/roomgate
clock: {trust: always}
http: {listen: ":8080"}
update: {trial: 1s, keys: [%q]}
spaces: [{id: 00000000-0000-4000-8000-0000000001ab, name: Lab, timezone: Europe/Berlin}]
`

// faultAt is where on the stick the release lies that does not start.
const faultAt = 96 << 20

// powered is a machine that boots in seconds, with a gateway that is started again
// whenever it ends.
type powered struct {
	*wall
	image, stick  string
	sizes         [2]int // of the bundles on the stick: the next release, the fault
	running, next int
	seen          map[string]int
}

// TestLabCuts takes the power away LAB_CUTS times, at any moment of update after
// update and of the start that follows. Each time a whole release starts, knows
// what it has acknowledged, and takes the next update.
func TestLabCuts(t *testing.T) {
	stick := filepath.Join(os.Getenv("LAB_IMAGES"), "bundles")
	disk := filepath.Join(os.Getenv("LAB_IMAGES"), "data")
	p := &powered{wall: newWall(t, "data", "LAB_DISK="+disk+".qcow2", "LAB_STICK="+stick), image: filepath.Join(os.Getenv("LAB_IMAGES"), "gateway"),
		stick: stick, running: 0, next: 1, seen: map[string]int{}}
	p.journal, p.data = "tail -n 20 /tmp/log", "--data /data/roomgate"
	p.row("update/virt/power/power cuts", func(*lab) { p.cuts() })
}

func (p *powered) cuts() {
	times, err := strconv.Atoi(cmp.Or(os.Getenv("LAB_CUTS"), "3"))
	if err != nil {
		p.Fatal(err)
	}
	p.tool("mke2fs", "-q", "-t", "ext4", p.base, "512M")
	p.layer()
	p.offer()
	began, flickers := time.Now(), 0
	p.on()
	p.forgets()
	for n := range times {
		p.book()
		p.take([]int{0, 0, 1}[n%3])
		time.Sleep(time.Duration(rand.IntN(12_000)) * time.Millisecond)
		p.cut()
		if n%4 == 3 {
			p.flicker(p.image, time.Duration(1000+rand.IntN(10_000))*time.Millisecond)
			flickers++
		}
		p.on()
		p.kept()
		runs := p.runs(n + 1)
		p.seen[runs]++
		p.Logf("cut %d: %s runs", n+1, runs)
	}
	p.take(0)
	p.stands(p.name(p.next))
	p.Logf("note: %d cuts during updates and %d during boots, in %v; %d bookings kept; what ran then: %v",
		times, flickers, time.Since(began).Round(time.Second), len(p.booked), p.seen)
}

// forgets makes sure that a cut takes away what was written and not flushed: else
// nothing would be proved.
func (p *powered) forgets() {
	p.Helper()
	p.sh("echo kept >/data/kept; sync; echo lost >/data/lost")
	p.cut()
	p.on()
	if got := p.sh("cat /data/kept /data/lost 2>/dev/null || :"); got != "kept" {
		p.Fatalf("of what was flushed and what was not the disk has %q", got)
	}
}

// offer puts the next release and the fault onto the stick, as bytes.
func (p *powered) offer() {
	p.Helper()
	bundles := [2][]byte{p.release(p.name(p.next)), p.fault("/bin/roomgate")}
	f, err := os.Create(p.stick)
	if err != nil {
		p.Fatal(err)
	}
	defer f.Close()
	for i, bundle := range bundles {
		if _, err := f.WriteAt(bundle, int64(i*faultAt)); err != nil {
			p.Fatal(err)
		}
		p.sizes[i] = len(bundle)
	}
	if err := f.Truncate(2 * faultAt); err != nil {
		p.Fatal(err)
	}
}

// take has a bundle of the stick installed, as soon as that may be.
func (p *powered) take(which int) {
	p.Helper()
	p.sh(fmt.Sprintf("echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/vdb bs=1M skip=%d count=64 2>/dev/null | head -c %d >/tmp/bundle; "+
		"setsid roomgate update --now --again /tmp/bundle %s >/tmp/update 2>&1 </dev/null &", which*faultAt>>20, p.sizes[which], p.data))
}

// on boots the machine and starts the gateway.
func (p *powered) on() {
	p.Helper()
	p.lab.lab("boot", p.image, port(p.web)+":8080")
	p.sh("grep -q '^/dev/vda /data ' /proc/mounts || exit 1; cat >/etc/gateway.yaml <<'END'\n" + fmt.Sprintf(configOfCuts, p.public) + "END\n" +
		"while :; do ROOMGATE_SYSTEM_KEY=" + labKey + " roomgate run --config /etc/gateway.yaml; sleep 0.2; done </dev/null >>/tmp/log 2>&1 &")
	p.within(patience, "the gateway is ready", p.ready)
}

// runs is the release that runs after a cut.
func (p *powered) runs(cut int) string {
	p.Helper()
	u := p.updates()
	p.within(patience, "a gateway answers", func() bool { u = p.updates(); return u.Running != "" })
	switch u.Running {
	case p.name(p.running), p.name(p.next):
	default:
		p.Fatalf("after cut %d %s runs, want %s or %s: %+v", cut, u.Running, p.name(p.running), p.name(p.next), u)
	}
	if u.Running == p.name(p.next) && u.Trial == nil {
		p.running, p.next = p.next, p.next+1
		p.offer()
	}
	return u.Running
}

// name is the version of a release by its number; 0 is the one of the image.
func (p *powered) name(n int) string {
	if n == 0 {
		return "lab"
	}
	return releaseName(n)
}
