package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
	"time"
)

// Reserve is a small file beside a database whose room on the disk is taken beforehand: what must not wait for room is
// kept there until the database has it. It is written only then. Its methods are safe for concurrent use.
//
// Each record has its length, a CRC-32C over itself and over that of the record before, and its bytes: so what is left
// of earlier ones is not taken for a record.
type Reserve struct {
	mu    sync.Mutex
	path  string
	file  *os.File // nil: there was no room for it
	size  int64
	end   int64
	chain uint32
	kept  [][]byte
	lack  error // why there is no room for it
	since time.Time
}

// NoReserve begins the reason of a disk that has no room for a reserve, and takes the rest.
const NoReserve = "the reserve for doors has no room"

// ErrReserve says that a reserve has no room.
var ErrReserve = errors.New("the reserve is used up, or there is none")

const (
	reserveHead = 8       // bytes before each record
	mostReserve = 8 << 20 // bytes that are read
)

// OpenReserve opens or makes the file at path, of size bytes; 0: there is none. With each error it returns a reserve that
// takes nothing, and still tells what was kept.
func OpenReserve(path string, size int64) (*Reserve, error) {
	r := &Reserve{path: path, size: size}
	return r, r.Again()
}

// Again tries once more to open a reserve that could not be opened.
func (r *Reserve) Again() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size == 0 || r.file != nil {
		return nil
	}
	err := r.open()
	switch {
	case !Lacking(err):
		r.lack = nil
	case r.lack == nil:
		r.lack, r.since = err, time.Now()
	}
	return err
}

func (r *Reserve) open() error {
	r.kept, r.chain, r.end = nil, 0, 0
	file, err := os.OpenFile(r.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		if file, err := os.Open(r.path); err == nil { // a disk that takes nothing still tells
			r.read(file)
			_ = file.Close()
		}
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < r.size {
		_, err = file.WriteAt(make([]byte, r.size-info.Size()), info.Size())
		err = errors.Join(err, file.Sync(), SyncDir(r.path))
	}
	r.read(file)
	if err != nil {
		if len(r.kept) == 0 { // half a reserve is none
			err = errors.Join(err, Remove(r.path))
		}
		return errors.Join(err, file.Close())
	}
	r.file = file
	return nil
}

// Lacks is why there is no room for the reserve, and since when; nil if there is.
func (r *Reserve) Lacks() (since time.Time, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.since, r.lack
}

// read takes what is there.
func (r *Reserve) read(file *os.File) {
	raw, _ := io.ReadAll(io.NewSectionReader(file, 0, mostReserve)) // as far as the disk delivers it
	for len(raw) >= reserveHead {
		length, sum := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:])
		if length == 0 || int64(length) > int64(len(raw)-reserveHead) {
			return
		}
		body := raw[reserveHead : reserveHead+length]
		if sumOf(r.chain, body) != sum {
			return
		}
		r.kept = append(r.kept, body)
		r.chain, r.end = sum, r.end+reserveHead+int64(length)
		raw = raw[reserveHead+length:]
	}
}

// sumOf is that of a record behind the one whose sum is chain.
func sumOf(chain uint32, body []byte) uint32 {
	head := binary.LittleEndian.AppendUint32(nil, chain)
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, body)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Put keeps a record; nil says that it is on the disk. ErrReserve says that the reserve is used up, or that there is none.
func (r *Reserve) Put(record []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || len(record) == 0 || r.end+reserveHead+int64(len(record)) > r.size {
		return fmt.Errorf("%w of %d bytes", ErrReserve, r.size)
	}
	raw, sum := appendRecord(nil, r.chain, record)
	_, err := r.file.WriteAt(raw, r.end)
	if err = errors.Join(err, r.file.Sync()); err != nil {
		return err
	}
	r.chain, r.end, r.kept = sum, r.end+int64(len(raw)), append(r.kept, record)
	return nil
}

// appendRecord appends a record as it is in the file.
func appendRecord(raw []byte, chain uint32, record []byte) (_ []byte, sum uint32) {
	sum = sumOf(chain, record)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(len(record)))
	return append(binary.LittleEndian.AppendUint32(raw, sum), record...), sum
}

// Replace makes these records all that the reserve keeps, in a new file: for a process whose disk took nothing and may
// take that. They may have 8 MiB with their heads, whatever the size of the reserve.
func (r *Reserve) Replace(records [][]byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var raw []byte
	var sum uint32
	for _, record := range records {
		raw, sum = appendRecord(raw, sum, record)
	}
	if r.size == 0 || len(raw) > mostReserve {
		return fmt.Errorf("%w for %d bytes", ErrReserve, len(raw))
	}
	end := int64(len(raw))
	raw = append(raw, make([]byte, max(0, r.size-end))...)
	temp := r.path + ".new"
	err := writeSynced(temp, raw)
	if err == nil {
		err = Install(temp, r.path)
	}
	if err != nil {
		return errors.Join(err, Remove(temp))
	}
	err = r.closeFile()
	r.chain, r.end, r.kept = sum, end, records
	file, openErr := os.OpenFile(r.path, os.O_RDWR, 0)
	if r.file = nil; openErr == nil {
		r.file, r.lack = file, nil
	}
	return errors.Join(err, openErr)
}

// Kept returns what is kept, the oldest first.
func (r *Reserve) Kept() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([][]byte(nil), r.kept...)
}

// Clear gives the reserve free, once the database has what was kept.
func (r *Reserve) Clear() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end == 0 || r.file == nil {
		return nil
	}
	_, err := r.file.WriteAt(make([]byte, reserveHead), 0)
	if err = errors.Join(err, r.file.Truncate(r.size), r.file.Sync()); err != nil {
		return err
	}
	r.end, r.chain, r.kept = 0, 0, nil
	return nil
}

// Close lets the file go.
func (r *Reserve) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closeFile()
}

func (r *Reserve) closeFile() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
