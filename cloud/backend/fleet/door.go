package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DoorFile is where a fleet is asked, and the key that it wants. It lies in the folder of
// its data, for its owner alone.
const DoorFile = "fleet.json"

// Door is what DoorFile says.
type Door struct {
	URL    string `json:"url"`
	Key    string `json:"key"`
	Client string `json:"client"` // the session at the broker, which no other backend and no gateway has
}

// ReadDoor is what the last start has written.
func ReadDoor(dir string) (d Door, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, DoorFile))
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	return d, err
}

// OpenDoor is that; a first start makes a key and a session at the broker of its own.
func OpenDoor(dir string) (d Door, err error) {
	d, err = ReadDoor(dir)
	if errors.Is(err, fs.ErrNotExist) {
		d.Key, err = rand.Text(), nil
	}
	if d.Client == "" {
		d.Client = "backend-" + strings.ToLower(rand.Text()[:12])
	}
	if err != nil {
		err = fmt.Errorf("%s cannot be read: %w", filepath.Join(dir, DoorFile), err)
	}
	return d, err
}

// Encode is what DoorFile is to say.
func (d Door) Encode() []byte {
	raw, _ := json.Marshal(d) // texts always can be encoded
	return raw
}

// ErrElsewhere is an address that others reach, too.
var ErrElsewhere = errors.New("is no address of this machine alone: want one as 127.0.0.1:1885")

// ListenHere listens on this machine and nowhere else: the key goes in the clear.
func ListenHere(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return nil, ErrElsewhere
	}
	return net.Listen("tcp", address)
}

// Serve answers until ctx ends.
func (f *Fleet) Serve(ctx context.Context, at net.Listener) error {
	s := &http.Server{Handler: f.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(at); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
