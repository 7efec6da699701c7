package update

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The files of a download in Dir. Nothing in them is believed: what has arrived is
// a bundle like any other, and one that was pieced together wrongly is fetched
// once more from its beginning.
const (
	partFile = "download.part" // what has arrived
	noteFile = "download.json" // of which bundle
)

const maxNote = 32 << 10 // bytes: an address and a validator, each byte of which JSON may write as six

// Body is what a server sends of a bundle.
type Body struct {
	io.ReadCloser
	From      int64  // the offset of its first byte: the one that was asked for, or 0
	Size      int64  // of the whole bundle; -1: not told
	Validator string // names these very bytes, so that a later request can go on; empty: none can
}

// Fetch asks for the bundle at an address from an offset on, if it still is what
// validator says; else from its beginning. Where there is none it is a *Refused.
type Fetch func(ctx context.Context, url string, from int64, validator string) (Body, error)

// Fetching is a bundle that the cloud wants and that is not here yet.
type Fetching struct {
	URL     string `json:"url"`               // without a query
	Have    int64  `json:"have"`              // bytes that have arrived
	Size    int64  `json:"size"`              // of all of it; -1: not known
	Problem string `json:"problem,omitempty"` // of the last try, which is repeated; empty: it arrives just now
}

// download is a bundle that is on its way.
type download struct {
	URL       string `json:"url"`
	Validator string `json:"validator"`
	Size      int64  `json:"size"` // bytes; -1: not known yet
}

func (r *Releases) partPath() string { return filepath.Join(r.Dir, partFile) }

// halfway returns the download of an address, and how much of it has arrived.
func (r *Releases) halfway(url string) (d download, size int64) {
	text, err := readSmall(filepath.Join(r.Dir, noteFile), maxNote)
	if err != nil || json.Unmarshal(text, &d) != nil || d.URL != url {
		return download{URL: url}, 0
	}
	info, err := os.Stat(r.partPath())
	if err != nil || d.Validator == "" && info.Size() != d.Size {
		return download{URL: url}, 0
	}
	return d, info.Size()
}

// arrived returns a download with how much of it is here.
func (r *Releases) arrived(f *Fetching) *Fetching {
	if f == nil {
		return nil
	}
	now := *f
	if text, err := readSmall(filepath.Join(r.Dir, noteFile), maxNote); err == nil {
		var d download
		_ = json.Unmarshal(text, &d) // else nothing is known of it
		if info, err := os.Stat(r.partPath()); err == nil && place(d.URL) == f.URL {
			now.Have, now.Size = info.Size(), d.Size
		}
	}
	return &now
}

// drop removes what has arrived of any bundle.
func (r *Releases) drop() error {
	return errors.Join(r.disk.RemoveAll(r.partPath()), r.disk.RemoveAll(filepath.Join(r.Dir, noteFile)))
}

func (r *Releases) noteDownload(d download) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return writeWhole(r.disk, filepath.Join(r.Dir, noteFile), text)
}

// bring lets the bundle at an address arrive, going on where an earlier try ended,
// also one before a power cut. resumed says that it did.
func (u *Runner) bring(ctx context.Context, url string) (resumed bool, err error) {
	d, have := u.halfway(url)
	if have > 0 && have == d.Size {
		return true, nil
	}
	body, err := u.Fetch(ctx, url, have, d.Validator)
	if err != nil {
		return false, err
	}
	defer body.Close()
	if err := u.checkFree(body, have); err != nil {
		return false, err
	}
	if body.From != have || have == 0 {
		d.Validator, d.Size, have = body.Validator, body.Size, 0
		if err := errors.Join(u.drop(), u.disk.Mkdir(u.Dir), u.noteDownload(d)); err != nil {
			return false, noRoom(err)
		}
	}
	got, err := u.append(body, have)
	if err == nil && d.Size < 0 {
		d.Size = have + got
		err = u.noteDownload(d)
	}
	return have > 0, noRoom(err)
}

// append writes the rest of a bundle behind what is there.
func (u *Runner) append(body Body, have int64) (got int64, err error) {
	f, err := u.disk.Append(u.partPath())
	if err != nil {
		return 0, err
	}
	got, err = io.Copy(f, io.LimitReader(body, MaxBundle+1-have))
	if err == nil && body.Size >= 0 && have+got < body.Size {
		err = io.ErrUnexpectedEOF
	}
	return got, errors.Join(err, f.Sync(), f.Close())
}

// checkFree makes sure that the disk can take the rest.
func (u *Runner) checkFree(body Body, have int64) error {
	if body.Size > MaxBundle {
		return refuse(NoBundle, "the bundle has %d MB: want at most %d", body.Size>>20, MaxBundle>>20)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(u.Dir), &disk); err != nil {
		return err
	}
	need := max(body.Size, 0) - have + spare
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < need {
		return refuse(DiskFull, "the download of the update needs %d MB of disk and %d MB are free: free space", need>>20, free>>20)
	}
	return nil
}

// takeBrought installs what has arrived.
func (u *Runner) takeBrought(ctx context.Context) (Release, error) {
	f, _, err := openRegular(u.partPath())
	if err != nil {
		return Release{}, err
	}
	defer f.Close()
	return u.Install(ctx, f, u.Taking)
}

// fetch installs the bundle at an address. One that was brought in pieces and is
// damaged is brought once more in one.
func (u *Runner) fetch(ctx context.Context, url string) (one Release, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	for {
		resumed, err := u.bring(ctx, url)
		if err != nil {
			return one, err
		}
		one, err = u.takeBrought(ctx)
		var refused *Refused
		if err != nil && (!errors.As(err, &refused) || refused.passes()) {
			return one, err // what has arrived is good for another try
		}
		if dropped := u.drop(); dropped != nil {
			return one, errors.Join(err, dropped)
		}
		if refused == nil || !resumed || refused.Cause != Corrupt && refused.Cause != NoBundle {
			return one, err
		}
	}
}
