package fleet

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/cell"
)

// Each program that serves a fleet has its authority and its cells, and says where it is asked.
func TestOpening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := Opening{Dir: filepath.Join(dir, "fleet"), Listen: "127.0.0.1:0", CA: filepath.Join(dir, "ca"), Cells: filepath.Join(dir, "cells"),
		Options: Options{Log: slog.New(slog.DiscardHandler), Broker: backend.Options{URL: "mqtt://127.0.0.1:1"}}}
	if _, err := o.Open(); !errors.Is(err, authority.ErrNone) {
		t.Errorf("without an authority: %v", err)
	}
	if _, err := authority.Init(o.CA, "gateways", time.Now()); err != nil {
		t.Fatal(err)
	}
	f, err := o.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(f.at.Close(), f.Close()) }()
	door, err := ReadDoor(o.Dir)
	info, _ := os.Stat(filepath.Join(o.Dir, DoorFile))
	if err != nil || door.URL != f.URL || door.Key == "" || info.Mode() != 0o600 {
		t.Errorf("it is asked at %+v, %v, %v: want %s", door, info.Mode(), err, f.URL)
	}
	if there, err := f.o.Admitted("hq"); err != nil || there || f.o.Authority == nil {
		t.Errorf("hq has a login: %v, %v", there, err)
	}
	if _, password, err := f.o.Admit("hq"); err != nil || password == "" {
		t.Error(err)
	}
	logins, err := cell.Folder(o.Cells).Read()
	if there, _ := f.o.Admitted("hq"); err != nil || !there || len(logins.Gateways) != 1 {
		t.Errorf("hq has no login: %+v, %v", logins, err)
	}
	elsewhere := o
	elsewhere.Dir, elsewhere.Listen = filepath.Join(dir, "other"), "0.0.0.0:0"
	if _, err := elsewhere.Open(); !errors.Is(err, ErrElsewhere) || !strings.Contains(err.Error(), "0.0.0.0:0") {
		t.Errorf("at every address: %v", err)
	}
}
