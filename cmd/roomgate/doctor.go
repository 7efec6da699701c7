package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent"
	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/agent/eventlog"
	"roomgate/drivers/all"
	"roomgate/drivers/host"

	"roomgate/cmd/roomgate/show"
)

// checkTime bounds each of the doctor's checks.
const checkTime = 5 * time.Second

const doctorHelp = `Examines this machine and the gateway on it: board, kernel, the lines, buses,
channels and cameras that the configuration names, who may open them, clock,
disk, event log, card wear, memory, network, cloud, claim, mail relay, push gateway, webhooks,
certificates, and each device. Every finding says what was seen and, if it is not
ok, what to do.

It asks the service manager too, and looks at files as the service's user does.

It only reads, needs no running gateway, and ends within seconds. It ends with
1 if anything fails; a warning is no failure.`

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "find the faults of this machine and its gateway, and their fixes",
		Long: doctorHelp, Args: cobra.NoArgs, RunE: action(runDoctor)}
	gatewayFlags(cmd)
	outputFlag(cmd)
	return cmd
}

// diagnosis is what the doctor says as JSON.
type diagnosis struct {
	At       time.Time        `json:"at"`
	Version  string           `json:"version"`
	State    doctor.State     `json:"state"` // the gravest of the findings
	Findings []doctor.Finding `json:"findings"`

	outside bool // no gateway answered
}

// diagnose examines everything.
func diagnose(cmd *cobra.Command) diagnosis {
	o := doctor.Options{Root: "/", Chips: chips, Schema: agent.Schema, ConfigFile: configFile(cmd), Deadline: checkTime, Sudo: typesSudo(), IsRoot: os.Getuid() == 0,
		ConfigFlag: configFlag(cmd), LogIns: logIns}
	o.Config, o.ConfigError = doctorConfig(cmd)
	o.DataFlag = folderFlag(dataNamed(cmd, o.Config))
	if dir := text(cmd, "data"); dir != "" {
		o.Data, _ = filepath.Abs(dir) // without a working folder it is as nobody named one
	}
	o.Building, o.ProcessID, o.BuildingError = askBuilding(cmd, o.Config)
	if o.ConfigFile == defaultConfig {
		o.Service = askService(cmd.Context())
	}
	findings := doctor.Examine(cmd.Context(), o)
	return diagnosis{time.Now().UTC().Truncate(time.Second), version, doctor.Worst(findings), findings, o.Building == nil}
}

func runDoctor(cmd *cobra.Command, _ []string) error {
	d := diagnose(cmd)
	if err := showDiagnosis(cmd, d); err != nil {
		return err
	}
	var failed []string
	warned := 0
	for _, f := range d.Findings {
		switch f.State {
		case doctor.Fail:
			failed = append(failed, f.Name)
		case doctor.Warn:
			warned++
		}
	}
	if len(failed) > 0 {
		return fail(exitFailed, "%d of %s failed: %s", len(failed), show.Count(len(d.Findings), "finding"), strings.Join(failed, ", "))
	}
	if !wantsJSON(cmd) {
		fmt.Fprintln(cmd.ErrOrStderr(), nothingFailed(warned, len(d.Findings)))
	}
	return nil
}

// nothingFailed is the last line of who looks whether he is done.
func nothingFailed(warned, all int) string {
	if warned == 0 {
		return "nothing failed"
	}
	return fmt.Sprintf("nothing failed, %d of %s only warn", warned, show.Count(all, "finding"))
}

func showDiagnosis(cmd *cobra.Command, d diagnosis) error {
	if f := show.FileOf(cmd.OutOrStdout()); f != nil && show.IsTerminal(f) && !wantsJSON(cmd) {
		_, err := io.WriteString(cmd.OutOrStdout(), asCalled(findingLines(d.Findings, show.StyleOf(f).Colour)))
		return err
	}
	return output(cmd, d, "STATE FINDING SEEN", func(row func(...string)) {
		for _, f := range d.Findings {
			row(string(f.State), f.Name, f.Seen)
			if f.Fix != "" {
				row("", "", asCalled("fix: "+f.Fix))
			}
		}
	})
}

// findingLines are findings for who reads them at a terminal, which may be as narrow as a
// phone: a line is only broken by the terminal, so that a command can be copied from it.
func findingLines(all []doctor.Finding, coloured bool) string {
	var b strings.Builder
	for _, f := range all {
		state := fmt.Sprintf("%-4s", f.State)
		if coloured {
			state = map[doctor.State]string{doctor.OK: "\x1b[32m", doctor.Warn: "\x1b[33m", doctor.Fail: "\x1b[31m"}[f.State] + state + "\x1b[0m"
		}
		fmt.Fprintf(&b, "%s  %s: %s\n", state, show.Plain(f.Name), show.Plain(f.Seen))
		if f.Fix != "" {
			fmt.Fprintf(&b, "  fix: %s\n", show.Plain(f.Fix))
		}
	}
	return b.String()
}

// chips describes this board's GPIO chips.
func chips() (out []doctor.Chip) {
	for _, c := range host.New().Chips() {
		d := doctor.Chip{Path: c.Path, Label: c.Label, Err: c.Err}
		for _, l := range c.Lines {
			d.Lines = append(d.Lines, doctor.Line(l))
		}
		out = append(out, d)
	}
	return out
}

// doctorConfig loads the configuration.
func doctorConfig(cmd *cobra.Command) (*config.Config, error) {
	c, err := heard(cmd.Context(), func() (*config.Config, error) {
		return config.Load(configFile(cmd), all.All(), overlay(cmd.Flags())...)
	})
	if errors.Is(err, fs.ErrPermission) {
		if shut := shutAbove(configFile(cmd)); shut != "" {
			return nil, fmt.Errorf("%w, because %s may not be entered", err, shut)
		}
	}
	if err != nil {
		return nil, err
	}
	return absoluteData(c)
}

// dataNamed is the data folder that somebody named, empty: nobody did.
func dataNamed(cmd *cobra.Command, c *config.Config) string {
	if dir := text(cmd, "data"); dir != "" || c == nil {
		return dir
	}
	if _, named := c.Origin("data"); named {
		return c.Data
	}
	return ""
}

// askBuilding asks the gateway on this machine how it and its devices are.
func askBuilding(cmd *cobra.Command, c *config.Config) (*doctor.Building, int, error) {
	path, err := findSocket(dataNamed(cmd, c))
	if err != nil {
		return nil, 0, err
	}
	b, err := buildingAt(cmd.Context(), path)
	if b == nil {
		return nil, 0, err
	}
	if b.Simulated {
		b.Folder = cmp.Or(text(cmd, "data"), filepath.Dir(path))
	}
	var chain eventlog.Chain
	if overSocket(path, checkTime).call(cmd.Context(), http.MethodGet, "/log/verify", nil, &chain) == nil { // an earlier version has no such door
		b.Log = &chain
	}
	return b, peer(path), err
}

// buildingAt asks the gateway behind a control socket, all but its log.
func buildingAt(ctx context.Context, path string) (*doctor.Building, error) {
	asked := overSocket(path, checkTime)
	b := &doctor.Building{}
	if err := asked.call(ctx, http.MethodGet, "/gateway", nil, b); err != nil {
		return nil, err
	}
	var answer struct {
		Devices []doctor.Device `json:"devices"`
	}
	err := asked.call(ctx, http.MethodGet, "/gateway/devices", nil, &answer)
	b.Devices = answer.Devices
	_ = asked.call(ctx, http.MethodGet, "/claim", nil, &b.Claim) // what does not answer is found by the rest
	if u, err := updatesOf(ctx, asked); err == nil {             // a demo has no such door
		b.Update = &u
	}
	_ = asked.call(ctx, http.MethodGet, "/room-broker/refused", nil, &b.Refused) // an earlier version has no such door
	var p doctor.Pending
	if asked.call(ctx, http.MethodGet, "/reload", nil, &p) == nil { // nor has it
		b.Pending = &p
	}
	return b, err
}

// failing counts what the doctor finds that fails, as the gateway itself sees it:
// nobody outside is asked each time.
func failing(ctx context.Context, g *gateway, path string) int {
	o := doctor.Options{Root: "/", Chips: chips, Schema: agent.Schema, ConfigFile: g.file, Config: g.config, Deadline: checkTime, Quiet: true, ProcessID: os.Getpid()}
	o.Building, o.BuildingError = buildingAt(ctx, path)
	failed := 0
	for _, f := range doctor.Examine(ctx, o) {
		if f.State == doctor.Fail {
			failed++
		}
	}
	return failed
}

// askService asks the service manager how the packaged gateway is; it is empty where
// there is none.
func askService(ctx context.Context) doctor.Service {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "--property="+doctor.ServiceProperties, "roomgate.service").Output()
	if err != nil {
		return doctor.Service{}
	}
	s := doctor.ParseService(string(out))
	if s.Loaded { // what the program itself has said, and not systemd about it
		said, _ := exec.CommandContext(ctx, "journalctl", "--quiet", "--no-pager", "--output=cat", "--lines=1", "_SYSTEMD_UNIT=roomgate.service").Output()
		s.Said = show.Plain(strings.TrimSpace(string(said)))
	}
	return s
}

// verifyLog answers GET /log/verify, in less time than the doctor has.
func (g *gateway) verifyLog(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTime*4/5)
	defer cancel()
	found, err := g.agent.Events.Verify(ctx)
	answerDoor(w, found, err)
}

// peer is the process that listens at a socket, 0 if that is not known
// (unix(7), SO_PEERCRED).
func peer(path string) (id int) {
	conn, err := net.DialTimeout("unix", filepath.Clean(path), time.Second)
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if c, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			id = int(c.Pid)
		}
	})
	return id
}
