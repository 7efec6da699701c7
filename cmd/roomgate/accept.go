package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent/acceptance"
	"roomgate/agent/atomicfile"
	"roomgate/agent/clock"
	"roomgate/agent/health"
	"roomgate/drivers"

	"roomgate/cmd/roomgate/show"
)

const acceptHelp = `Walks a meeting space device by device: gives each command, measures what a
machine can measure (the read-back, how long it took, speed, temperature,
pictures), asks the one who stands in the room to confirm what only a person
can see, and brings each device back to what it was. The door is opened.

Answer y, n or s (skip), with a note behind it if there is something to say:
"n the ring stays dark".

The signed report is one HTML page with the pictures in it, and the same as
JSON beside it. A device that failed is named in it, and ends this with 1.`

func newAccept() *cobra.Command {
	cmd := &cobra.Command{Use: "accept SPACE", Short: "accept a meeting space, and write the report of it", Long: acceptHelp,
		Example: "  roomgate device accept aurora --by 'A. Installer'\n  roomgate device accept aurora --yes --report /tmp",
		Args:    cobra.ExactArgs(1), RunE: asking(accept)}
	cmd.Flags().Bool("yes", false, "ask nobody: only what a machine can measure")
	cmd.Flags().String("by", "", "`NAME` of who signs; else it is asked")
	cmd.Flags().String("report", ".", "`DIR` of the report")
	cmd.Flags().StringSlice("without", nil, "device `TYPES` that are left out, as lock,camera")
	return cmd
}

func accept(cmd *cobra.Command, c *client, args []string) error {
	s, err := c.space(cmd, args[0])
	if err != nil {
		return err
	}
	without, _ := cmd.Flags().GetStringSlice("without")
	for _, t := range without {
		if !slices.Contains(drivers.Types(), t) {
			return fail(exitUsage, "--without %q is no device type: want some of %s", t, strings.Join(drivers.Types(), ","))
		}
	}
	dir := text(cmd, "report")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fail(exitUsage, "--report %s is not a directory: make it, or name another", dir)
	}
	room, err := c.room(cmd.Context(), s.ID)
	if err != nil {
		return err
	}
	report, err := walkRoom(cmd, c, room, without, dir)
	if err != nil {
		return err
	}
	return concludeReport(cmd, report, dir)
}

// walkRoom walks the room with the person at the terminal, and has the report
// signed.
func walkRoom(cmd *cobra.Command, c *client, room acceptance.Room, without []string, dir string) (acceptance.Report, error) {
	var gateway struct {
		health.Identity
		health.Report
	}
	report := acceptance.Report{Space: room.Name, SpaceID: room.ID, Timezone: room.Timezone, Tool: version, StartedAt: now()}
	if err := c.call(cmd.Context(), http.MethodGet, "/gateway", nil, &gateway); err != nil {
		return report, err
	}
	report.Gateway, report.Version = gateway.Identity, gateway.Version
	report.TimeTrust = clock.Untrusted
	if gateway.Clock.Trusted {
		report.TimeTrust = clock.Trusted
	}
	t := walker{newTerminal(cmd)}
	yes, _ := cmd.Flags().GetBool("yes")
	person := acceptance.Person{Told: t.told}
	if !yes {
		look := lookAt{dir: dir, name: report.Name()}
		defer look.close()
		person.Ask, person.Show = t.ask, look.show
	}
	var err error
	if report.Devices, err = acceptance.Accept(cmd.Context(), room, person, without); err != nil {
		return report, err
	}
	report.FinishedAt = now()
	report.Judge()
	if report.By = strings.TrimSpace(text(cmd, "by")); report.By == "" && !yes {
		report.By, err = t.name(cmd.Context())
	}
	return report, err
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// concludeReport writes the report, tells where it is, and ends as it says.
func concludeReport(cmd *cobra.Command, r acceptance.Report, dir string) error {
	path, err := writeReport(r, dir)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	answer := struct {
		acceptance.Report
		Files []string `json:"files"`
	}{r, []string{path + ".html", path + ".json"}}
	err = output(cmd, answer, "DEVICE NAME RESULT", func(row func(...string)) {
		for _, d := range r.Devices {
			row(d.Type, d.ID, string(d.Result))
		}
	})
	if err != nil {
		return err
	}
	if !wantsJSON(cmd) {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, see %s\n", show.Plain(r.Space), r.Verdict, path+".html")
	}
	if r.Verdict == acceptance.Refused {
		return fail(exitFailed, "%s is not accepted: %s failed", r.Space, strings.Join(r.Failed, ", "))
	}
	return nil
}

// writeReport writes page and JSON beside any report of the same day, and
// returns their path without what follows the dot. The pictures are of a room,
// so only the one who walked it may read them.
func writeReport(r acceptance.Report, dir string) (path string, err error) {
	path = filepath.Join(dir, r.Name())
	for n := 2; exists(path+".html") || exists(path+".json"); n++ {
		path = filepath.Join(dir, r.Name()+"-"+strconv.Itoa(n))
	}
	var page, raw bytes.Buffer
	if err := errors.Join(r.WriteHTML(&page), show.JSON(&raw, r)); err != nil {
		return "", err
	}
	return path, errors.Join(atomicfile.Write(path+".html", page.Bytes(), nil), atomicfile.Write(path+".json", raw.Bytes(), nil))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// lookAt keeps the pictures that a person is asked about as files until the
// walk ends.
type lookAt struct {
	dir, name string
	files     []string
}

func (l *lookAt) show(p acceptance.Picture) (string, error) {
	ending := ".jpg"
	if p.ContentType == "image/png" {
		ending = ".png"
	}
	path := filepath.Join(l.dir, fmt.Sprintf("%s-look-%d%s", l.name, len(l.files)+1, ending))
	l.files = append(l.files, path)
	return path, os.WriteFile(path, p.Data, 0o600)
}

func (l *lookAt) close() {
	for _, f := range l.files {
		_ = os.Remove(f) // it is in the report
	}
}
