package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"roomgate/agent/config"
	"roomgate/agent/doctor"
	"roomgate/agent/setup"
	"roomgate/configs"
	"roomgate/drivers/all"
	"roomgate/drivers/o3"

	"roomgate/cmd/roomgate/show"
)

const setupHelp = `Looks at what this board has, asks what it cannot know, shows what it will
change in the configuration, writes it, and lets the doctor examine the result.

Return takes what stands in [ ], and where nothing does leaves the thing out; "?"
explains a question, "-" leaves out what stands there,
"back" goes to the question before. Answers that are not written are kept in
FILE.typed, without passwords, and offered again. A device that speaks as
Zigbee2MQTT, Tasmota, ESPHome or Shelly gets a user at the room broker, whose
password is shown once. At the end stands the next command. The
answers can come from a file instead, in the keys of the configuration, of which
ids may be left out:

  gateway: {id: berlin-3}
  cloud: {url: "mqtts://cloud.example.com", username: berlin-3, password: secret}
  spaces:
    - name: Atlas
      timezone: Europe/Berlin
      devices:
        - {driver: lock-relay, options: {relay: GPIO17}}
        - {driver: o3-mqtt, options: {address: "10.0.0.31:1883", password: secret}}
        - {driver: display-page}

What the file says already stays, with its comments; what was there before is
kept as FILE.before. Passwords go to files of their own in credentials/ beside
the configuration. With a mistake nothing is written.`

func newSetup() *cobra.Command {
	cmd := &cobra.Command{Use: "setup", Short: "look at this board, ask, and write its configuration",
		Long: setupHelp, Args: cobra.NoArgs, RunE: action(runSetup)}
	gatewayFlags(cmd)
	f := cmd.Flags()
	f.String("answers", "", "`FILE` with the answers: nobody is asked for them")
	f.Bool("yes", false, "write the plan without asking")
	f.Bool("scan", false, "look for O3 hubs in this machine's networks, with the factory password")
	f.Bool("dry-run", false, "show what would change and write nothing")
	f.Bool("no-doctor", false, "end without the doctor, as for another machine")
	outputFlag(cmd)
	return cmd
}

func runSetup(cmd *cobra.Command, _ []string) error {
	options, err := setupOptions(configFile(cmd))
	if err != nil {
		return err
	}
	if options.Folder, err = os.Getwd(); err != nil {
		return err
	}
	if err := mayWrite(options.File); err != nil && !flagged(cmd, "dry-run") {
		return err
	}
	w := &wizard{cmd: cmd, Terminal: newTerminal(cmd), options: options, refuses: hubRefuses(cmd.Context()), camera: cameraRefuses(cmd.Context()), knows: cloudKnows(cmd.Context())}
	w.look()
	plan, err := w.plan()
	if err != nil || flagged(cmd, "dry-run") {
		return invalid(err)
	}
	w.handOver(plan)
	if !flagged(cmd, "no-doctor") {
		fmt.Fprintln(w.Out)
		err = runDoctor(cmd, nil)
	}
	if next := w.next(plan); next != "" {
		if err != nil {
			next = w.refused(plan.Config) + next
		}
		fmt.Fprintln(w.Out, asCalled("next: "+next))
	}
	return err
}

// plan is what was written, from a file or by questions.
func (w *wizard) plan() (*setup.Plan, error) {
	if text(w.cmd, "answers") == "" && !flagged(w.cmd, "yes") {
		return w.interview()
	}
	name, data, err := "the answers", []byte(nil), error(nil)
	if file := text(w.cmd, "answers"); file != "" {
		name, w.options.Judge = file, impossible(w.cmd.Context()) // with the places of the file
		if data, err = readGiven(w.cmd, file, maxGiven); err != nil {
			return nil, fail(exitUsage, "read answers: %w", err)
		}
		if _, err = setup.ReadAnswers(name, data, w.options); err != nil {
			return nil, err
		}
	}
	return w.carryOut(name, data)
}

// carryOut makes answers a plan, with the flags laid over them, and writes it.
func (w *wizard) carryOut(name string, answers []byte) (*setup.Plan, error) {
	answers, err := w.flags(answers)
	if err != nil {
		return nil, err
	}
	plan, err := setup.Prepare(name, answers, w.options)
	if err != nil {
		wantsGateway(err)
		return nil, w.ofFlags(err)
	}
	var impossible *config.Errors
	if errors.As(cannotWork(w.cmd.Context(), plan.Config, w.options.File), &impossible) {
		for i := range impossible.Problems { // the file is not written, so nobody can look there
			impossible.Problems[i].File, impossible.Problems[i].Line = "", 0
		}
		return nil, impossible
	}
	return plan, w.write(plan)
}

// mayWrite says before anything is asked that this user cannot write the
// configuration.
func mayWrite(file string) error {
	dir := filepath.Dir(file)
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	switch err := unix.Access(dir, unix.W_OK); {
	case err == nil:
		return nil
	case os.Getuid() != 0 && errors.Is(err, fs.ErrPermission):
		return fail(exitFailed, "setup writes %s, which takes root: %s", file, rootSetup())
	default:
		return fail(exitFailed, "setup writes %s, and %s cannot be written: %w", file, dir, err)
	}
}

// rootSetup is how setup is run by who is not root.
func rootSetup() string {
	if typesSudo() {
		return "sudo roomgate setup"
	}
	return asRoot(false)
}

func flagged(cmd *cobra.Command, name string) bool {
	on, err := cmd.Flags().GetBool(name)
	return err == nil && on
}

// invalid gives problems of a configuration their exit code.
func invalid(err error) error {
	var problems *config.Errors
	if errors.As(err, &problems) {
		return &fault{exitConfig, err}
	}
	return err
}

// setupOptions are those of a machine whose configuration is the file.
func setupOptions(file string) (setup.Options, error) {
	fresh, err := setup.Fresh(configs.Gateway)
	if err != nil {
		return setup.Options{}, err
	}
	file, err = filepath.Abs(file)
	o := setup.Options{File: file, Fresh: fresh, Credentials: filepath.Join(filepath.Dir(file), "credentials"),
		Kinds: all.All(), Timezone: localZone("/")}
	if file == defaultConfig { // systemd reads that folder for the service, and nobody else may
		o.Reference = func(name string) string { return "${CREDENTIALS_DIRECTORY}/secret_" + name }
	}
	return o, err
}

// localZone is the time zone of the machine below root by its IANA name.
func localZone(root string) string {
	if name, err := os.ReadFile(filepath.Join(root, "etc/timezone")); err == nil {
		return strings.TrimSpace(string(name))
	}
	link, err := os.Readlink(filepath.Join(root, "etc/localtime"))
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(link, "zoneinfo/")
	return name
}

// flags lays what the flags say over answers.
func (w *wizard) flags(answers []byte) ([]byte, error) {
	set := overlay(w.cmd.Flags())
	if len(set) == 0 {
		return answers, nil
	}
	flags := setup.NewAnswers()
	for _, s := range set {
		flags.Set(s.Key, s.Value)
	}
	over, err := flags.YAML()
	if err != nil {
		return nil, err
	}
	return setup.Lay(answers, over)
}

// ofFlags names the flag that said what is wrong, which stands in no line of the answers.
func (w *wizard) ofFlags(err error) error {
	var problems *config.Errors
	if !errors.As(err, &problems) {
		return err
	}
	for _, s := range overlay(w.cmd.Flags()) {
		for i := range problems.Problems {
			if p := &problems.Problems[i]; p.Key == s.Key {
				p.File, p.Line, p.Column = s.Origin, 0, 0
			}
		}
	}
	return problems
}

// write shows the plan, asks, and does it.
func (w *wizard) write(p *setup.Plan) error {
	if !p.Changes() {
		fmt.Fprintf(w.Out, "%s: nothing changes, %s\n", p.File, spacesOf(p.Config))
		w.warn(p.Config)
		return nil
	}
	if p.Before == nil {
		fmt.Fprintf(w.Out, "%s will be new, from the commented example with these changes:\n%s", p.File, setup.Diff(w.options.Fresh, p.After))
	} else {
		fmt.Fprintf(w.Out, "%s will change:\n%s", p.File, setup.Diff(p.Before, p.After))
	}
	for _, c := range p.Credentials {
		fmt.Fprintf(w.Out, "+ %s, a password, readable to the gateway alone\n", c.Name)
	}
	if flagged(w.cmd, "dry-run") {
		return nil
	}
	if !flagged(w.cmd, "yes") {
		yes, err := w.decide(question{ask: "write this?", usual: "y", forget: true,
			help: "y writes it and keeps the file before as " + p.File + ".before; n leaves everything as it is; back asks the last question again"})
		if err != nil {
			return err
		}
		if !yes {
			return fail(exitFailed, "nothing was written")
		}
	}
	err := p.Write(serviceGroup())
	if errors.Is(err, fs.ErrPermission) {
		return fail(exitFailed, "%w: %s", err, rootSetup())
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Out, "%s is written, %s\n", p.File, spacesOf(p.Config))
	w.warn(p.Config)
	return nil
}

// warn names the hubs that keep the password of their factory. What only systemd
// hands to the service is read where systemd reads it.
func (w *wizard) warn(c *config.Config) {
	for _, s := range c.Spaces {
		for _, d := range s.Devices {
			hub, ok := d.Options.(*o3.Options)
			if !ok {
				continue
			}
			file := hub.PasswordFile
			if source := config.CredentialSource(file); source != "" {
				file = source
			}
			if password, err := hub.Password.Reveal(file); err == nil && password == o3.FactoryPassword {
				fmt.Fprintf(w.Out, "WARNING: %s still has the password with which an O3 leaves the factory, which everybody knows: change it at the hub and here\n", d.ID)
			}
		}
	}
}

func spacesOf(c *config.Config) string {
	devices := 0
	for _, s := range c.Spaces {
		devices += len(s.Devices)
	}
	return show.Count(len(c.Spaces), "meeting space") + " with " + show.Count(devices, "device")
}

// serviceGroup is the group of the packaged service, -1 if there is none.
func serviceGroup() int {
	g, err := user.LookupGroup("roomgate")
	if err != nil {
		return -1
	}
	id, err := strconv.Atoi(g.Gid)
	if err != nil {
		return -1
	}
	return id
}

// next is the command that lets what was written take effect; empty: nothing was.
func (w *wizard) next(p *setup.Plan) string {
	switch {
	case !p.Changes():
		return ""
	case p.File != defaultConfig:
		return w.nextByHand(p)
	case len(p.Credentials) > 0 || p.Before == nil: // systemd hands passwords over at a start
		return sudo("systemctl restart roomgate", "roomgate doctor")
	}
	before, err := config.Parse(p.File, p.Before, w.options.Kinds)
	if err != nil || before.Restart(p.Config) != "" {
		return sudo("systemctl restart roomgate", "roomgate doctor")
	}
	return sudo("systemctl reload roomgate", "roomgate doctor")
}

// nextByHand is next for a gateway that no service starts. One that runs keeps its data
// folder from another.
func (w *wizard) nextByHand(p *setup.Plan) string {
	start := "roomgate run --config " + setup.ShellWord(p.File)
	data := dataFolder(w.cmd)
	path, err := findSocket(data)
	if err != nil {
		return start
	}
	var changed doctor.Pending
	err = overSocket(path, answerTime).call(w.cmd.Context(), http.MethodGet, "/reload", nil, &changed)
	if err == nil && changed.Changed && changed.Restart == "" {
		return "roomgate reload" + flagFor("data", data)
	}
	return "end the gateway that runs with " + data + ", and start it again: " + start
}

// sudo is commands in a row as who ran this one types them.
func sudo(commands ...string) string {
	before := ""
	if typesSudo() {
		before = "sudo "
	}
	return before + strings.Join(commands, " && "+before)
}
