package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"roomgate/cloud/authority"
	"roomgate/cloud/cell"
	"roomgate/cloud/internal/whole"
)

// Opening is a fleet that a program serves, as its command line names it. It fills what Options leaves
// to a folder: Key and ClientID, Path without a Store, and Admit and Admitted with Cells.
type Opening struct {
	Dir    string // of DoorFile, and of the data without a Store
	Listen string // HOST:PORT on this machine
	CA     string // the folder of an authority; empty: there is none
	Cells  string // the folder of roomgate cloud cell; empty: nobody is admitted
	Options
}

// Served is a fleet and where it is asked.
type Served struct {
	*Fleet
	URL string
	at  net.Listener
}

// Open opens the fleet, listens, and writes where it is asked into the folder.
func (o Opening) Open() (*Served, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if o.CA != "" {
		if o.Authority, err = authority.Open(o.CA); err != nil {
			return nil, err
		}
	}
	door, err := OpenDoor(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Key, o.Broker.ClientID, o.Path = door.Key, door.Client, filepath.Join(o.Dir, "fleet.db")
	if o.Cells != "" {
		o.Admit, o.Admitted = cell.Folder(o.Cells).Admit, cell.Folder(o.Cells).Admitted
	}
	f, err := Open(o.Options)
	if err != nil {
		return nil, fmt.Errorf("the fleet cannot be opened: %w", err)
	}
	at, err := ListenHere(o.Listen)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the fleet cannot listen: %q %w", o.Listen, err), f.Close())
	}
	door.URL = "http://" + at.Addr().String()
	if err := whole.Write(filepath.Join(o.Dir, DoorFile), door.Encode(), 0o600); err != nil {
		return nil, errors.Join(err, at.Close(), f.Close())
	}
	return &Served{f, door.URL, at}, nil
}

// Answer answers who asks, until ctx ends.
func (s *Served) Answer(ctx context.Context) error { return s.Serve(ctx, s.at) }
