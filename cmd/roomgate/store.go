package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/agent"
	"roomgate/agent/atomicfile"
	"roomgate/store"

	"roomgate/cmd/roomgate/show"
)

const storeReadHelp = `Reads FILE, a database that was set aside because it was damaged, or a snapshot:
how many rows of each table can be read, how many cannot, and with --table the
rows themselves. Secrets are hidden. Nothing is changed, and the gateway may run:
only its own database is in use then.

A file is named as "store list" has it, or by its path.`

func newStore() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "list the database, its snapshots and the files set aside", Args: cobra.NoArgs, RunE: action(listStore)}
	read := &cobra.Command{Use: "read FILE", Short: "read a database that was set aside, or a snapshot", Long: storeReadHelp, Args: cobra.ExactArgs(1), RunE: action(readStore)}
	read.Flags().String("table", "", "show the rows of the `TABLE`, as bookings")
	check := &cobra.Command{Use: "check FILE", Short: "read a whole database and verify its checksums", Args: cobra.ExactArgs(1), RunE: action(checkStore)}
	confirm := &cobra.Command{Use: "confirm", Short: "say that you have looked at what the last repair found", Args: cobra.NoArgs, RunE: action(confirmStore)}
	for _, cmd := range []*cobra.Command{list, read, check, confirm} {
		cmd.Flags().String("config", "", withVariable("configuration `FILE`, which only says where the data is", "config"))
		cmd.Flags().String("data", "", withVariable(dataUsage, "data"))
	}
	outputFlag(list)
	outputFlag(read)
	return group("store", "look at the database and the files set aside", list, read, check, confirm)
}

// storedFile is a file of the database.
type storedFile struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind"` // database, snapshot, damaged, before-schema, ahead
	Bytes      int64     `json:"bytes"`
	ModifiedAt time.Time `json:"modified_at"`
}

func listStore(cmd *cobra.Command, _ []string) error {
	path := filepath.Join(dataFolder(cmd), agent.Database)
	names, err := store.Files(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fail(exitFailed, "there is no data folder %s: name that of the gateway with --data", filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	files := []storedFile{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			continue // it is being replaced just now
		}
		f := storedFile{Name: filepath.Base(name), Kind: "database", Bytes: info.Size(), ModifiedAt: info.ModTime().UTC().Truncate(time.Second)}
		if rest, ok := strings.CutPrefix(f.Name, agent.Database+"."); ok {
			f.Kind, _, _ = cutLast(rest, "-")
		}
		files = append(files, f)
	}
	return output(cmd, files, "NAME KIND SIZE MODIFIED", func(row func(...string)) {
		for _, f := range files {
			row(f.Name, f.Kind, show.Bytes(f.Bytes), f.ModifiedAt.Format(time.RFC3339))
		}
	})
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// inFolder is a file that is named as the list has it. What is there and no file is refused.
func inFolder(cmd *cobra.Command, name string) (string, error) {
	if _, err := os.Stat(name); err != nil && filepath.Base(name) == name {
		name = filepath.Join(dataFolder(cmd), name)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() {
		return name, nil // or says later what is wrong
	}
	f, err := atomicfile.Open(name, os.O_RDONLY)
	if err == nil {
		err = f.Close()
	}
	return name, err
}

// storedRow is a row as JSON shows it.
type storedRow struct {
	Table string          `json:"table"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

func readStore(cmd *cobra.Command, args []string) error {
	table := text(cmd, "table")
	out := json.NewEncoder(cmd.OutOrStdout())
	out.SetEscapeHTML(false)
	known := false
	file, err := inFolder(cmd, args[0])
	if err != nil {
		return fail(exitUsage, "%w", err)
	}
	found, err := agent.ReadStored(cmd.Context(), file, func(r store.StoredRow) error {
		if _, name, _ := strings.Cut(r.Bucket, ":"); table == "" || table != name && table != r.Bucket {
			return nil
		}
		known = true
		value := agent.ShowStored(r.Bucket, r.Value)
		if wantsJSON(cmd) {
			return out.Encode(storedRow{r.Bucket, r.Key, value})
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", show.Plain(r.Key), show.Plain(string(value)))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(exitFailed, "there is no %s: see roomgate store list, and name the folder with --data", args[0])
	case errors.Is(err, store.ErrLocked):
		return fail(exitRefused, "%s is in use by the gateway: read a snapshot or a file set aside, see roomgate store list", args[0])
	case err != nil:
		return err
	case table == "":
		return showFound(cmd, found)
	case !known:
		return fail(exitFailed, "no row of %s can be read: see roomgate store read %s for its tables", table, args[0])
	}
	return nil
}

func showFound(cmd *cobra.Command, found store.Repair) error {
	type readable struct {
		Table      string `json:"table"`
		Rows       int    `json:"rows"`
		Unreadable int    `json:"unreadable"`
		Stretches  int    `json:"stretches"` // in which nobody knows whether there are rows
	}
	tables := []readable{}
	for _, t := range found.Tables {
		tables = append(tables, readable{t.Name, t.Kept + t.Found + t.Earlier, t.Lost, t.Holes})
	}
	if found.Headless || found.Unlisted {
		fmt.Fprintln(cmd.ErrOrStderr(), "roomgate: the file does not tell its newest state: there may have been more")
	}
	return output(cmd, tables, "TABLE ROWS UNREADABLE UNKNOWN-STRETCHES", func(row func(...string)) {
		for _, t := range tables {
			row(t.Table, fmt.Sprint(t.Rows), fmt.Sprint(t.Unreadable), fmt.Sprint(t.Stretches))
		}
	})
}

func checkStore(cmd *cobra.Command, args []string) error {
	file, err := inFolder(cmd, args[0])
	if err != nil {
		return fail(exitUsage, "%w", err)
	}
	p := newProgress(cmd)
	defer p.End()
	err = store.Check(cmd.Context(), file, store.Progress(p.Of("the database is checked")))
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return &fault{exitRefused, err} // which is no verdict
	}
	return err
}

func confirmStore(cmd *cobra.Command, _ []string) error {
	path, err := findSocket(dataFolder(cmd))
	if err != nil {
		return err
	}
	if err := overSocket(path, answerTime).call(cmd.Context(), http.MethodPost, "/store/confirm", nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "noted: doctor and heartbeat do not tell of the repair any more")
	return err
}

// confirmRepair answers POST /store/confirm.
func (g *gateway) confirmRepair(w http.ResponseWriter, r *http.Request) {
	answerDoor(w, struct{}{}, g.agent.Health.Database.Confirm(r.Context()))
}
