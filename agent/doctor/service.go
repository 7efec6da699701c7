package doctor

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
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
}

// ServiceProperties are what ParseService reads of systemctl show.
const ServiceProperties = "LoadState,ActiveState,SubState,NRestarts,ExecMainStatus,User,AmbientCapabilities"

// ParseService reads KEY=VALUE lines as systemctl show prints them.
func ParseService(shown string) Service {
	has := map[string]string{}
	for line := range strings.Lines(shown) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		has[key] = value
	}
	s := Service{Loaded: has["LoadState"] == "loaded", State: has["ActiveState"] + "/" + has["SubState"], User: has["User"], Capabilities: has["AmbientCapabilities"]}
	s.Restarts, _ = strconv.Atoi(has["NRestarts"]) // 0: it does not say
	s.Status, _ = strconv.Atoi(has["ExecMainStatus"])
	return s
}

// MayListen says whether the service may take a port that needs a right.
func (s Service) MayListen() bool {
	return s.User == "" || s.User == "root" || strings.Contains(s.Capabilities, "cap_net_bind_service")
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
	if s.Status == invalidStatus {
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
	path, err := filepath.EvalSymlinks(x.ConfigFile)
	if err != nil || !filepath.IsAbs(path) || x.user.self {
		return "", ""
	}
	for at, want := path, mayRead; at != "/"; at, want = filepath.Dir(at), mayEnter {
		info, ok := x.exists(at)
		if !ok || x.user.may(info, want) {
			continue
		}
		group := x.groupName(x.user.group)
		if want == mayRead {
			return fmt.Sprintf("%s (%s) may not be read by %s, as which the gateway runs", path, info.Mode(), x.user.name), fmt.Sprintf("sudo chgrp %s %s && sudo chmod 640 %s, then %s", group, path, path, x.again())
		}
		return fmt.Sprintf("%s (%s) may not be entered by %s, as which the gateway runs", at, info.Mode(), x.user.name), fmt.Sprintf("sudo chgrp %s %s && sudo chmod 750 %s, then %s", group, at, at, x.again())
	}
	return "", ""
}
