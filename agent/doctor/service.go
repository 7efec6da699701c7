package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"roomgate/agent/machineuser"
)

// Service is what the service manager says of the packaged gateway.
type Service struct {
	Loaded       bool   // the machine has the service
	State        string // ActiveState and SubState of systemd(1), as "activating/auto-restart"
	Restarts     int    // since somebody has started it
	Status       int    // with which it ended last
	User         string // empty or root: it may everything
	Capabilities string // AmbientCapabilities, as "cap_net_bind_service"
	Said         string // the last line of its journal
	Protected    bool   // all is read only to it but Writable and its own directories
	Writable     []string
}

// ServiceProperties are what ParseService reads of systemctl show.
const ServiceProperties = "LoadState,ActiveState,SubState,NRestarts,ExecMainStatus,User,AmbientCapabilities,ProtectSystem,ReadWritePaths,StateDirectory"

// ParseService reads KEY=VALUE lines as systemctl show prints them.
func ParseService(shown string) Service {
	has := map[string]string{}
	for line := range strings.Lines(shown) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		has[key] = value
	}
	s := Service{Loaded: has["LoadState"] == "loaded", State: has["ActiveState"] + "/" + has["SubState"], User: has["User"], Capabilities: has["AmbientCapabilities"]}
	s.Protected = has["ProtectSystem"] == "strict"
	for _, dir := range strings.Fields(has["ReadWritePaths"]) {
		s.Writable = append(s.Writable, strings.TrimLeft(dir, "-+")) // their signs, as systemd.exec(5) has them
	}
	for _, dir := range strings.Fields(has["StateDirectory"]) {
		s.Writable = append(s.Writable, "/var/lib/"+dir)
	}
	s.Restarts, _ = strconv.Atoi(has["NRestarts"]) // 0: it does not say
	s.Status, _ = strconv.Atoi(has["ExecMainStatus"])
	return s
}

// MayListen says whether the service may take a port that needs a right.
func (s Service) MayListen() bool {
	return s.User == "" || s.User == "root" || strings.Contains(s.Capabilities, "cap_net_bind_service")
}

// shuts says whether the service manager lets the service write nothing below a folder.
func (s Service) shuts(dir string) bool {
	return s.Protected && !slices.ContainsFunc(s.Writable, func(w string) bool { return dir == w || strings.HasPrefix(dir, strings.TrimRight(w, "/")+"/") })
}

// invalidStatus is how a gateway ends whose configuration it cannot use.
const invalidStatus = 3

// service says whether the service keeps running, which nobody who asks the gateway
// learns while it starts again and again.
func service(_ context.Context, x *examination) []Finding {
	const name = "service"
	s := x.Service
	if !s.Loaded || x.Building != nil {
		return nil
	}
	ended := fmt.Sprintf("it ended with %d", s.Status)
	if s.Said != "" {
		ended += " and said: " + s.Said
	}
	todo := "run sudo journalctl -u roomgate -e, correct what it says, then sudo systemctl restart roomgate"
	switch {
	case s.Status == invalidStatus && x.ConfigError == nil && s.Said != "":
		todo = "do what it said, then sudo systemctl restart roomgate"
	case s.Status == invalidStatus:
		todo = "correct what sudo roomgate check-config says, then sudo systemctl restart roomgate"
	}
	active, _, _ := strings.Cut(s.State, "/")
	switch {
	case active == "failed":
		return one(fail(name, "roomgate has failed and does not start again: "+ended, todo))
	case s.State == "activating/auto-restart" || active == "activating" && s.Restarts > 0:
		return one(fail(name, fmt.Sprintf("roomgate starts again and again, %s by now: %s", count(s.Restarts, "time"), ended), todo))
	case active == "inactive":
		return one(warn(name, "roomgate is stopped", "sudo systemctl enable --now roomgate"))
	}
	return one(good(name, "%s", s.State))
}

// startCommand is what starts a gateway which does not run.
func startCommand(x *examination) string {
	if x.Service.Loaded {
		return "sudo systemctl start roomgate, and run sudo journalctl -u roomgate if it does not stay"
	}
	return "roomgate run --config " + cmp.Or(x.ConfigFile, "FILE")
}

// again is the command that lets a running gateway take what its file says.
func (x *examination) again() string {
	if x.Service.Loaded {
		if p := x.Building.pending(); p.Changed && p.Restart == "" {
			return "sudo systemctl reload roomgate"
		}
		return "sudo systemctl restart roomgate"
	}
	return "start the gateway again with this configuration"
}

// restart is how the gateway is started again.
func (x *examination) restart() string {
	if x.Service.Loaded {
		return "sudo systemctl restart roomgate"
	}
	return "start the gateway again"
}

// Pending is what the configuration file says and the running gateway does not do.
type Pending struct {
	Changed bool   `json:"changed"`
	Restart string `json:"restart,omitempty"` // the first key that takes one
}

func (b *Building) pending() Pending {
	if b == nil || b.Pending == nil {
		return Pending{}
	}
	return *b.Pending
}

// readable says why the gateway's user cannot read the configuration, empty: he can.
func readable(x *examination) (seen, todo string) {
	path, err := filepath.Abs(x.ConfigFile) // else a folder above it goes unseen
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil || x.user.self {
		return "", ""
	}
	if info, ok := x.exists(path); ok && !x.user.May(info, machineuser.Read) {
		return fmt.Sprintf("%s (%s) may not be read by %s, as which the gateway runs", path, info.Mode(), x.user.Name),
			fmt.Sprintf("sudo chgrp %s %s && sudo chmod 640 %s, then %s", x.machineUsers().GroupName(x.user.Group), path, path, x.again())
	}
	if at, info := notEntered(x, filepath.Dir(path)); info != nil {
		return shutSeen(x, at, info), shutFix(x, at) + ", then " + x.again()
	}
	return "", ""
}

// shut says why the gateway's user cannot read a file, by its own mode or a folder above it, and lets
// its group read it.
func shut(x *examination, name, file string, info fs.FileInfo) (f Finding, shut bool) {
	var seen, todo []string
	if !x.user.May(info, machineuser.Read) {
		seen = append(seen, fmt.Sprintf("%s (%s) may not be read by %s, as which the gateway runs", file, info.Mode(), x.user.Name))
		todo = append(todo, fmt.Sprintf("sudo chgrp %s %s && sudo chmod 640 %s", x.machineUsers().GroupName(x.user.Group), file, file))
	}
	for dir := filepath.Dir(file); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		at, above := notEntered(x, dir)
		if above == nil {
			break
		}
		seen, todo, dir = append(seen, shutSeen(x, at, above)), append(todo, shutFix(x, at)), at
	}
	return fail(name, strings.Join(seen, "; "), strings.Join(todo, " && ")+", then "+x.restart()), seen != nil
}

// notEntered is the folder nearest to one, itself included, that the gateway's user may not
// enter; nil: there is none.
func notEntered(x *examination, dir string) (at string, info fs.FileInfo) {
	for ; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if info, ok := x.exists(dir); ok && !x.user.May(info, machineuser.Enter) {
			return dir, info
		}
	}
	return "", nil
}

func shutSeen(x *examination, at string, info fs.FileInfo) string {
	return fmt.Sprintf("%s (%s) may not be entered by %s, as which the gateway runs", at, info.Mode(), x.user.Name)
}

// shutFix lets the gateway's group enter a folder, and shows it to nobody else.
func shutFix(x *examination, at string) string {
	return fmt.Sprintf("sudo chgrp %s %s && sudo chmod g+x %s", x.machineUsers().GroupName(x.user.Group), at, at)
}
