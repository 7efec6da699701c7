package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/health"
	"roomgate/agent/update"
)

// State is how grave a finding is.
type State string

// The states of a finding, from good to bad.
const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
)

// Finding is one thing that was looked at.
type Finding struct {
	Name  string `json:"name"` // as "kernel" or "line GPIO17"
	State State  `json:"state"`
	Seen  string `json:"seen"`
	Fix   string `json:"fix,omitempty"` // what to do about it, unless it is ok
}

// Chip is a GPIO chip as the kernel describes it.
type Chip struct {
	Path, Label string
	Lines       []Line
	Err         error // why it could not be looked at
}

// Line is a line of a chip; User is who holds it if it is Used.
type Line struct {
	Name string
	Used bool
	User string
}

// Device is a device as the running gateway knows it.
type Device struct {
	Space    string           `json:"meeting_space"`
	Type     string           `json:"type"`
	Enabled  bool             `json:"enabled"`
	Readings []device.Reading `json:"readings"`
}

// Building is what the running gateway says.
type Building struct {
	health.Identity
	health.Report
	Outward health.Queues `json:"outward"`
	Claim   Claim
	Devices []Device
	Update  *update.Status  // nil: it takes none, as a demo
	Pending *Pending        // nil: it does not say, or has no file
	Log     *eventlog.Chain // how its log was found; nil: it does not say
	Refused []RefusedLogIn  // at the room broker
	Folder  string          `json:"-"` // that of a demo, which no configuration names; empty: it is no demo
}

// Options are what is examined.
type Options struct {
	// Root is the folder in which /dev, /sys, /proc and /etc are looked for.
	Root string
	// Chips describes the GPIO chips; nil: there are none.
	Chips func() []Chip
	// Config is nil if there is none, and ConfigError says why.
	Config      *config.Config
	ConfigFile  string
	ConfigError error
	// Building is nil if no gateway answers, and BuildingError says why.
	Building      *Building
	BuildingError error
	// Service is what the service manager says, empty: nothing.
	Service Service
	// Sudo says that who reads the fixes puts sudo before what takes root, IsRoot that he is root.
	Sudo, IsRoot bool
	// ConfigFlag and DataFlag are the flags by which other commands find what is examined, as
	// " --config FILE"; empty: they find it without.
	ConfigFlag, DataFlag string
	// Data is the data folder that the command names; empty: the configuration does.
	Data string
	// LogIns tries the users and passwords of a configuration; nil: nobody does.
	LogIns func(ctx context.Context, c *config.Config) []LogIn
	// Quiet asks nobody outside this machine: what the running gateway says counts.
	Quiet bool
	// Schema is the version of the tables that this program writes.
	Schema int
	// ProcessID is the running gateway's, 0 if it is not known.
	ProcessID int
	// Deadline bounds each check; they run side by side.
	Deadline time.Duration
}

// examination is the options with what several checks need.
type examination struct {
	Options
	needs []need           // what the configured devices open
	wrong map[string]error // why some cannot be opened, by id
	user  user             // that the gateway runs as
}

// check is one of the things to look at. It may find several.
type check struct {
	name string
	run  func(ctx context.Context, x *examination) []Finding
}

// checks are all of them, in the order in which people read.
func checks() []check {
	return []check{
		{"configuration", configuration},
		{"options", options},
		{"shared", shared},
		{"seed", seeds},
		{"service", service},
		{"gateway", gateway},
		{"board", board},
		{"kernel", kernel},
		{"user", runsAs},
		{"gpio chips", lines},
		{"buses", buses},
		{"watchdog", watchdog},
		{"clock", clock},
		{"data folder", dataFolder},
		{"database", database},
		{"event log", wholeLog},
		{"storage", storage},
		{"backup", lastBackup},
		{"update", updates},
		{"disk", disk},
		{"card wear", wear},
		{"memory", memory},
		{"network", network},
		{"cloud", cloudBroker},
		{"claim", claimed},
		{"door orders", doorOrders},
		{"mail relay", mailRelay},
		{"push gateway", pushGateway},
		{"webhooks", webhooks},
		{"listeners", listeners},
		{"room broker users", roomUsers},
		{"room broker log-ins", roomLogIns},
		{"certificates", certificates},
		{"passwords", passwords},
		{"log-ins", logIns},
		{"devices", devices},
	}
}

// Examine makes every check and returns what was found. A check that does not
// end in time is a finding too, and is left behind.
func Examine(ctx context.Context, o Options) []Finding {
	x := &examination{Options: o}
	x.needs, x.wrong = survey(ctx, o.Config, o.Deadline)
	x.user = x.findUser()
	list := checks()
	found := make([][]Finding, len(list))
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() { found[i] = c.bounded(ctx, x) })
	}
	all.Wait()
	return typed(x, slices.Concat(found...))
}

func (c check) bounded(ctx context.Context, x *examination) []Finding {
	ctx, cancel := context.WithTimeout(ctx, x.Deadline)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.run(ctx, x) }()
	select {
	case found := <-done:
		return found
	case <-time.After(x.Deadline + x.Deadline/10): // it was asked to end and did not
		return one(fail(c.name, "no answer within "+x.Deadline.String(), "run sudo dmesg for what hangs below it"))
	}
}

// Worst is the gravest state of findings.
func Worst(all []Finding) State {
	order := []State{OK, Warn, Fail}
	worst := 0
	for _, f := range all {
		worst = max(worst, slices.Index(order, f.State))
	}
	return order[worst]
}

func one(f Finding) []Finding { return []Finding{f} }

func good(name, format string, args ...any) Finding {
	return Finding{name, OK, fmt.Sprintf(format, args...), ""}
}

func warn(name, seen, fix string) Finding { return Finding{name, Warn, seen, fix} }

func fail(name, seen, fix string) Finding { return Finding{name, Fail, seen, fix} }

// path is where a file of the machine is, as "sys/class/pwm".
func (x *examination) path(name string) string { return filepath.Join(x.Root, name) }

// read returns a small file's text without what surrounds it, empty if it
// cannot be read.
func (x *examination) read(name string) string {
	raw, err := os.ReadFile(x.path(name))
	if err != nil {
		return ""
	}
	return strings.Trim(string(raw), "\x00 \n\t")
}

// below returns the names in a folder that match, none if it cannot be read.
func (x *examination) below(folder, pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(x.path(folder), pattern)) // the pattern is ours and valid
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	return paths
}

// exists says whether there is such a file, and which.
func (x *examination) exists(name string) (fs.FileInfo, bool) {
	info, err := os.Stat(x.path(name))
	return info, err == nil
}
