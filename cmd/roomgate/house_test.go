package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the top of the house as seen from this package.
const root = "../.."

// arrow forbids the packages in from, except those in but, to import those in
// to without those in harmless. "x/..." is x and all below it, "x/*" only what is
// below it.
type arrow struct {
	from, to, but, harmless []string
	why                     string
}

// arrows is cmd -> agent -> {drivers, store, cloud}, and what a package must not know
// though it is below or beside it: that imports within agent do not lead up, floors says.
var arrows = []arrow{
	{from: []string{"..."}, to: []string{"roomgate/cmd/..."}, but: []string{"cmd/roomgate"},
		why: "cmd is the top floor: what two packages need lives below it"},
	{from: []string{"cmd/roomgate/show"}, to: []string{"roomgate/agent", "roomgate/agent/acceptance", "roomgate/agent/api/...", "roomgate/agent/config", "roomgate/drivers/...", "roomgate/store/...", "roomgate/cloud/...", "github.com/spf13/..."},
		why: "it renders what it is given: it asks no gateway, and knows no command"},
	{from: []string{"agent/..."}, to: []string{"roomgate/drivers/*"}, but: []string{"agent/agenttest"},
		why: "the building knows the contract, never a concrete driver or bus: those are handed in"},
	{from: []string{"drivers/..."}, to: []string{"roomgate/store/...", "roomgate/cloud/...", "roomgate/agent/...", "roomgate/configs"},
		why: "a pillar stands alone: a driver knows hardware and nothing else"},
	{from: []string{"store/..."}, to: []string{"roomgate/drivers/...", "roomgate/cloud/...", "roomgate/agent/...", "roomgate/configs"},
		why: "a pillar stands alone: the store knows no noun of the building"},
	{from: []string{"store/pages"}, to: []string{"roomgate/...", "go.etcd.io/bbolt"},
		why: "it reads the pages on which bbolt would panic, and knows no row on them"},
	{from: []string{"store/disk"}, to: []string{"roomgate/...", "go.etcd.io/bbolt"},
		why: "it knows the disk below a database, and no row"},
	{from: []string{"store/sealed"}, to: []string{"roomgate/store", "go.etcd.io/bbolt"},
		why: "it knows the bytes of one row, and no database"},
	{from: []string{"store/layout"}, to: []string{"roomgate/store", "roomgate/store/disk", "roomgate/store/salvage"},
		why: "it says where what is in a file: it opens and writes none"},
	{from: []string{"store/undo"}, to: []string{"roomgate/..."},
		why: "it takes back what was written, whatever that is"},
	{from: []string{"store/queue"}, to: []string{"roomgate/store", "roomgate/store/disk", "roomgate/store/salvage"},
		why: "it keeps the rows of one queue in a transaction that others open and end"},
	{from: []string{"store/salvage"}, to: []string{"roomgate/store", "roomgate/store/disk"},
		why: "it makes a file of two others: whoever opens and names them is above"},
	{from: []string{"cloud/..."}, to: []string{"roomgate/drivers/...", "roomgate/store/...", "roomgate/agent/...", "roomgate/configs"},
		why: "a pillar stands alone: the cloud carries what it is given"},
	{from: []string{"cloud/guest"}, to: []string{"roomgate/..."},
		why: "it shares out whatever it is, at every door"},
	{from: []string{"drivers"}, to: []string{"roomgate/..."},
		why: "the contract depends on nobody, so everybody can depend on it"},
	{from: []string{"drivers/sim"}, to: []string{"roomgate/drivers/*"},
		why: "the world does not know what is put into it"},
	{from: []string{"drivers/sim/..."}, to: []string{"roomgate/drivers/*"}, harmless: []string{"roomgate/drivers/sim/..."},
		why: "a simulated chip comes from its datasheet: one that shares the driver's code proves nothing"},
	{from: []string{"drivers/sim/peers"}, to: []string{"roomgate/drivers/sim/*"},
		why: "a device on the network knows the world and no list of parts"},
	{from: []string{"drivers/..."}, to: []string{"roomgate/drivers/sim/...", "roomgate/drivers/host/..."},
		but: []string{"drivers/drivertest", "drivers/sim/..."},
		why: "a driver takes a bus and does not know which board is below it"},
	{from: []string{"drivers/..."}, to: []string{"roomgate/drivers/all"},
		why: "the list of drivers is for those who open them"},
	{from: []string{"agent/problem"}, to: []string{"roomgate/..."},
		why: "every noun stands on it, so it stands on none"},
	{from: []string{"agent/loop"}, to: []string{"roomgate/drivers/...", "roomgate/store/...", "roomgate/cloud/..."},
		why: "it waits for everybody and knows nobody"},
	{from: []string{"agent/clock"}, to: []string{"roomgate/..."},
		why: "it says what time it is, whatever for"},
	{from: []string{"agent/tlsauthority"}, to: []string{"roomgate/..."}, harmless: []string{"roomgate/agent/atomicfile", "roomgate/agent/certificate"},
		why: "it makes certificates from names and a time, no matter who serves them"},
	{from: []string{"agent/devicesecret"}, to: []string{"roomgate/drivers/...", "roomgate/store/...", "roomgate/cloud/..."},
		why: "it keeps one file, no matter who seals with it"},
	{from: []string{"agent/eventlog"}, to: []string{"roomgate/agent/config", "roomgate/drivers/...", "roomgate/cloud/..."},
		why: "all that goes outward follows the log, and the log follows nothing"},
	{from: []string{"agent/access"}, to: []string{"roomgate/drivers/...", "roomgate/cloud/..."}, harmless: []string{"roomgate/cloud/guest"},
		why: "who may come in is asked by every door and asks none"},
	{from: []string{"agent/mail"}, to: []string{"roomgate/agent/config", "roomgate/agent/eventlog", "roomgate/agent/message/...", "roomgate/drivers/...", "roomgate/cloud/..."},
		why: "a letter waits for the relay whatever it says"},
	{from: []string{"agent/message/..."}, to: []string{"roomgate/agent/config", "roomgate/agent/mail", "roomgate/agent/webhook", "roomgate/agent/rule/...", "roomgate/drivers/...", "roomgate/cloud/..."},
		why: "a message is sent no matter who asks for it: what it has to know of others are functions"},
	{from: []string{"agent/webhook/..."}, to: []string{"roomgate/agent/config", "roomgate/agent/mail/...", "roomgate/drivers/...", "roomgate/cloud/..."},
		why: "whose a space is and who is notified, it asks by functions"},
	{from: []string{"agent/schedule"}, to: []string{"roomgate/agent/device/...", "roomgate/drivers/..."},
		why: "what is booked does not depend on which devices are in the room: it asks whether somebody is there"},
	{from: []string{"agent/journal"}, to: []string{"roomgate/..."}, harmless: []string{"roomgate/agent/printable"},
		why: "it writes what it is given, no matter who logs"},
	{from: []string{"agent/standin"}, to: []string{"roomgate/agent/config", "roomgate/agent/eventlog", "roomgate/drivers/...", "roomgate/store/..."},
		why: "it is the other side: it knows the building by its messages"},
	{from: []string{"agent/rule/engine"}, to: []string{"roomgate/agent/config", "roomgate/agent/access", "roomgate/agent/webhook/...", "roomgate/agent/mail/...", "roomgate/agent/edge", "roomgate/cloud/..."},
		why: "a rule is about the devices, bookings and messages of a building: which those are, it asks by functions"},
	{from: []string{"agent/rule/doubt"}, to: []string{"roomgate/agent/config", "roomgate/agent/schedule", "roomgate/agent/eventlog", "roomgate/cloud/..."},
		why: "it remembers what a command may have moved: who goes by that asks it"},
	{from: []string{"agent/auth", "agent/qr", "agent/atomicfile", "agent/support", "agent/certificate", "agent/patch"}, to: []string{"roomgate/..."}, harmless: []string{"roomgate/agent/atomicfile"},
		why: "plain functions, which everybody may use"},
	{from: []string{"agent/booking", "agent/calendar", "agent/calendarlink", "agent/message", "agent/rule", "agent/push", "agent/update"},
		to:  []string{"roomgate/agent/eventlog", "roomgate/agent/config", "roomgate/drivers/...", "roomgate/store/...", "roomgate/cloud/..."},
		why: "rules and formats hold nothing and ask no hardware: what is stored of them is in the nouns above"},
	{from: []string{"agent/config"}, to: []string{"roomgate/agent/eventlog", "roomgate/agent/mail", "roomgate/agent/update", "roomgate/store/...", "roomgate/cloud", "roomgate/cloud/broker"},
		why: "what may be written in the file is asked before anything is opened"},
	{from: []string{"agent/seed", "agent/setup"}, to: []string{"roomgate/agent/eventlog", "roomgate/store/...", "roomgate/cloud/..."},
		why: "it writes a configuration, and needs no building for that"},
	{from: []string{"agent/site"}, to: []string{"roomgate/agent/rule/...", "roomgate/agent/unlock", "roomgate/agent/edge", "roomgate/agent/webhook/...", "roomgate/agent/message/...", "roomgate/agent/mail/...", "roomgate/agent/cloudlink", "roomgate/agent/roomcontrol", "roomgate/agent/homeassistant", "roomgate/cloud/..."},
		why: "which spaces and devices there are does not depend on what is done with them: who has claimed the gateway it asks by a function"},
	{from: []string{"agent/outgoing"}, to: []string{"roomgate/..."},
		why: "the way out knows none of those who use it"},
	{from: []string{"agent/homeassistant"}, to: []string{"roomgate/agent/eventlog", "roomgate/store/..."},
		why: "it asks the building by functions: without it, the building lacks one folder and one line"},
	{from: []string{"agent/cloudlink"}, to: []string{"roomgate/agent/config", "roomgate/agent/device/...", "roomgate/agent/schedule", "roomgate/drivers"},
		why: "the conversation with the cloud knows what a message is, and not what it is about"},
	{from: []string{"agent/claim", "agent/edge", "agent/enrol"}, to: []string{"roomgate/agent/config", "roomgate/drivers/..."},
		why: "each is one noun on the log: what it asks the building are functions, so without it the building lacks one folder and one line"},
	{from: []string{"agent/cloudkey"}, to: []string{"roomgate/agent/config", "roomgate/agent/unlock", "roomgate/agent/cloudlink", "roomgate/drivers/..."},
		why: "whose signature counts does not depend on how a message came, nor on who brought the key"},
	{from: []string{"agent/cloudcommand"}, to: []string{"roomgate/agent/config", "roomgate/agent/claim", "roomgate/agent/schedule", "roomgate/drivers/..."},
		why: "it reads and judges a command, and hands it on to the devices"},
	{from: []string{"agent/cloudconfig"}, to: []string{"roomgate/agent/claim", "roomgate/agent/cloudlink", "roomgate/agent/webhook/...", "roomgate/agent/message/...", "roomgate/agent/mail", "roomgate/drivers/*"},
		why: "it lays out what the cloud manages, and knows neither how it came nor what is notified of it"},
	{from: []string{"agent/device"}, to: []string{"roomgate/agent/auth", "roomgate/agent/booking", "roomgate/agent/rule/...", "roomgate/agent/webhook", "roomgate/cloud/..."},
		why: "a device carries out what it is told, no matter who tells it"},
	{from: []string{"agent/roomcontrol"}, to: []string{"roomgate/agent/eventlog", "roomgate/store/...", "roomgate/cloud/..."},
		why: "it stores nothing and tells nobody: what it does are commands like those of everybody"},
	{from: []string{"agent/unlock"}, to: []string{"roomgate/agent/config", "roomgate/agent/access", "roomgate/agent/rule/...", "roomgate/agent/webhook/...", "roomgate/cloud/..."},
		why: "who types a right code opens the door, no matter who manages the codes: which doors there are it asks by functions"},
	{from: []string{"agent/web"}, to: []string{"roomgate/agent/config", "roomgate/agent/device/...", "roomgate/drivers/...", "roomgate/store/...", "roomgate/cloud/..."},
		why: "a page shows what it is given: who serves it asks the nouns"},
	{from: []string{"agent/health"}, to: []string{"roomgate/agent/access", "roomgate/agent/cloudlink", "roomgate/agent/mail", "roomgate/agent/message/...", "roomgate/agent/rule/...", "roomgate/cloud/...", "roomgate/drivers/..."},
		why: "it tells how the gateway is: the cloud and the queues it asks by functions"},
	{from: []string{"agent/doctor"}, to: []string{"roomgate/agent"},
		why: "it examines what a gateway says, and needs none"},
	{from: []string{"configs"}, to: []string{"roomgate/..."},
		why: "the examples are files"},
	{from: []string{"..."}, to: []string{"go.etcd.io/bbolt"}, but: []string{"store/...", "cloud/backend", "cloud/backend/rollout", "cloud/backend/fleet"},
		why: "the store is the only one that knows the format on disk; a backend keeps its ledger in a file of its own"},
	{from: []string{"agent/...", "cmd/...", "store/..."}, to: []string{"github.com/eclipse/paho.mqtt.golang", "github.com/mochi-mqtt/..."},
		why: "sessions and brokers are cloud's and the O3's business: both are full of traps that are guarded once"},
	{from: []string{"..."}, to: []string{"testing", "github.com/google/go-cmp/...", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/evanw/esbuild/..."},
		but: []string{"agent/agenttest", "agent/eventlog/eventlogtest", "agent/goldentest", "cloud/backend/backendtest", "drivers/drivertest", "store/storetest"},
		why: "test machinery does not ship in the binary"},
}

// matches says whether a path fits one of the patterns.
func matches(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if below, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(path, below)
		}
		tree, ok := strings.CutSuffix(p, "...")
		return path == p || ok && strings.HasPrefix(path+"/", tree)
	})
}

// wrong returns the imports of a package that the arrow forbids. The path is
// without roomgate/.
func (a arrow) wrong(path string, imports []string) (found []string) {
	if !matches(path, a.from) || matches(path, a.but) {
		return nil
	}
	for _, i := range imports {
		if matches(i, a.to) && !matches(i, a.harmless) {
			found = append(found, i)
		}
	}
	return found
}

func TestArrows(t *testing.T) {
	t.Parallel()
	packages := list(t)
	for path, imports := range packages {
		for _, a := range arrows {
			for _, i := range a.wrong(path, imports) {
				t.Errorf("roomgate/%s imports %s: %s", path, i, a.why)
			}
		}
	}
	if len(packages) < 5 {
		t.Errorf("go list found only %d packages", len(packages))
	}
}

// TestArrowsAreNeeded keeps out of the table what floors says.
func TestArrowsAreNeeded(t *testing.T) {
	t.Parallel()
	at, packages := floorOf(), list(t)
	for _, a := range arrows {
		for _, to := range a.needless(at, packages) {
			t.Errorf("%q -> %s: forbids nothing but what floors does: leave it out", a.from, to)
		}
	}
}

// needless are the patterns of packages of ours to which an arrow forbids no import, or only
// those that lead up.
func (a arrow) needless(at map[string]int, packages map[string][]string) (found []string) {
	for _, to := range a.to {
		one := arrow{from: a.from, to: []string{to}, but: a.but, harmless: a.harmless}
		needed := !strings.HasPrefix(to, "roomgate") // what others make has no floor
		for from := range packages {
			for below := range packages {
				floor, placed := at[from]
				up := placed && at[below] > floor
				needed = needed || from != below && !up && len(one.wrong(from, []string{"roomgate/" + below})) > 0
			}
		}
		if !needed {
			found = append(found, to)
		}
	}
	return found
}

// TestArrowsAreNeededBites proves that the check above can fail.
func TestArrowsAreNeededBites(t *testing.T) {
	t.Parallel()
	at, packages := floorOf(), map[string][]string{"agent": nil, "agent/device": nil, "agent/schedule": nil, "agent/problem": nil, "drivers": nil}
	for to, needless := range map[string]bool{"roomgate/agent": true, "roomgate/agent/nobody": true, "roomgate": true, "roomgate/agent/device": true,
		"roomgate/agent/schedule": false, "roomgate/agent/problem": false, "roomgate/drivers": false, "go.etcd.io/bbolt": false} {
		if found := (arrow{from: []string{"agent/device"}, to: []string{to}}).needless(at, packages); (len(found) > 0) != needless {
			t.Errorf("to %s: needless is %q, should be %v", to, found, needless)
		}
	}
}

// TestArrowsBite proves that the table above can fail.
func TestArrowsBite(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wrong    bool
	}{
		{"drivers/lock", "roomgate/drivers", false},
		{"drivers/lock", "roomgate/store", true},
		{"drivers/lock", "roomgate/drivers/sim", true},
		{"drivers", "roomgate/drivers/sim", true},
		{"drivers/sim", "roomgate/drivers/parts", true},
		{"drivers/sim", "roomgate/drivers/sim/peers", true},
		{"drivers/sim/peers", "roomgate/drivers/sim", false},
		{"drivers/sim/peers", "roomgate/drivers/camera", true},
		{"drivers/sim/peers", "roomgate/drivers/sim/plan", true},
		{"drivers/sim/plan", "roomgate/drivers/sim/peers", false},
		{"drivers/sim/plan", "roomgate/drivers/host", true},
		{"drivers/all", "roomgate/drivers/lock", false},
		{"drivers/lock", "roomgate/drivers/all", true},
		{"store", "roomgate/drivers", true},
		{"storehouse", "go.etcd.io/bbolt", true},
		{"store", "go.etcd.io/bbolt", false},
		{"store", "roomgate/agent", true},
		{"store", "roomgate/store/pages", false},
		{"store/pages", "roomgate/store", true},
		{"store/pages", "go.etcd.io/bbolt", true},
		{"cloud/broker", "roomgate/cloud", false},
		{"cloud/broker", "roomgate/store", true},
		{"cloud/broker", "roomgate/cloud/guest", false},
		{"cloud/guest", "roomgate/cloud", true},
		{"agent/access", "roomgate/cloud/guest", false},
		{"agent/access", "roomgate/cloud", true},
		{"agent", "roomgate/drivers", false},
		{"agent", "roomgate/drivers/host", true},
		{"agent/api", "roomgate/agent", false},
		{"agent/api", "go.etcd.io/bbolt", true},
		{"agent", "github.com/mochi-mqtt/server/v2", true},
		{"agent", "roomgate/cmd/roomgate", true},
		{"agent", "roomgate/cmd/roomgate/show", true},
		{"cmd/roomgate", "roomgate/cmd/roomgate/show", false},
		{"cmd/roomgate/show", "roomgate/agent", true},
		{"cmd/roomgate/show", "github.com/spf13/cobra", true},
		{"cmd/roomgate/show", "roomgate/agent/booking", false},
		{"agent", "testing", true},
		{"agent/problem", "roomgate/drivers", true},
		{"agent/outgoing", "roomgate/agent/webhook", true},
		{"agent/journal", "roomgate/agent/clock", true},
		{"agent/standin", "roomgate/cloud/backend", false},
		{"agent/access", "roomgate/agent/config", false},
		{"agent/mail", "roomgate/agent/config", true},
		{"agent/mail", "roomgate/store", false},
		{"agent/message/book", "roomgate/agent/config", true},
		{"agent/message/book", "roomgate/agent/message", false},
		{"agent/config", "roomgate/agent/mail", true},
		{"agent/config", "roomgate/agent/auth", false},
		{"agent/claim", "roomgate/agent/config", true},
		{"agent/cloudconfig", "roomgate/agent/cloudlink", true},
		{"agent/cloudconfig", "roomgate/agent/access", false},
		{"agent/cloudlink", "roomgate/agent/config", true},
		{"agent/webhook", "roomgate/drivers", true},
		{"agent/booking", "roomgate/store", true},
		{"agent/booking", "roomgate/agent/problem", false},
		{"agent/auth", "roomgate/agent/problem", true},
		{"agent/seed", "roomgate/store", true},
		{"agent/rule/engine", "roomgate/agent/config", true},
		{"agent/rule/engine", "roomgate/agent/device", false},
		{"agent/rule/doubt", "roomgate/agent/schedule", true},
		{"agent/rule/doubt", "roomgate/agent/device", false},
		{"agent/webhook", "roomgate/agent/eventlog", false},
		{"agent/device", "roomgate/agent/eventlog", false},
		{"agent/site", "roomgate/agent/rule/engine", true},
		{"agent/site", "roomgate/agent/schedule", false},
		{"agent/site", "roomgate/agent/access", false},
		{"agent/cloudlink", "roomgate/cloud", false},
		{"agent/cloudkey", "roomgate/cloud", false},
		{"agent/cloudcommand", "roomgate/agent/cloudkey", false},
		{"agent/homeassistant", "roomgate/agent/roombroker", false},
		{"agent/roomcontrol", "roomgate/agent/device", false},
		{"agent/eventlog", "roomgate/agent/clock", false},
		{"agent/health", "roomgate/agent/cloudlink", true},
		{"agent/health", "roomgate/agent/webhook", false},
		{"agent/doctor", "roomgate/agent", true},
		{"agent/doctor", "roomgate/agent/health", false},
		{"agent/unlock", "roomgate/agent/config", true},
		{"agent/unlock", "roomgate/agent/schedule", false},
	} {
		found := slices.ContainsFunc(arrows, func(a arrow) bool { return len(a.wrong(c.from, []string{c.to})) > 0 })
		if found != c.wrong {
			t.Errorf("%s -> %s: refused is %v", c.from, c.to, found)
		}
	}
}

// list returns the imports of every package, by path without roomgate/.
func list(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	packages := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[strings.TrimPrefix(p.ImportPath, "roomgate/")] = p.Imports
	}
}

// sources returns every Go file of the house by path, which all tests read once.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var readSources = sync.OnceValues(func() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || hidden(d.Name())):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		files[path] = source
		return err
	})
	return files, err
})

// hidden names what tools need or leave behind.
func hidden(name string) bool { return strings.HasPrefix(name, ".") || name == "bin" }

// TestTopLevel keeps the first thing that people see short.
func TestTopLevel(t *testing.T) {
	rooms := []string{"cmd", "agent", "drivers", "cloud", "store", "configs", "systemd",
		"Makefile", "go.mod", "go.sum", "README.md"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !hidden(e.Name()) && !slices.Contains(rooms, e.Name()) && filepath.Ext(e.Name()) != ".test" && filepath.Ext(e.Name()) != ".out" {
			t.Errorf("%s is not a room of the house: %s", e.Name(), strings.Join(rooms, ", "))
		}
	}
}
