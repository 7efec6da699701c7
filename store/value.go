package store

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// A value on disk is one byte version, four bytes CRC-32C (big-endian) over bucket, key and payload, then JSON.
const (
	valueVersion = 1
	valueHeader  = 5
	// MaxValueSize bounds one encoded value in bytes.
	MaxValueSize = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seedOf starts the checksum of every value in a bucket, so that a value cannot pass in another bucket.
func seedOf(bucket []byte) uint32 { return crc32.Checksum(bucket, castagnoli) }

func checksum(seed uint32, key, payload []byte) uint32 {
	return crc32.Update(crc32.Update(seed, castagnoli, key), castagnoli, payload)
}

// encoder turns values into bytes in one growing buffer. bbolt keeps the slices until the commit, so the buffer is
// only reset between transactions.
type encoder struct {
	buf  []byte
	json *json.Encoder
}

const keepBuffer = 1 << 20

func newEncoder() *encoder {
	e := &encoder{}
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}

// Write appends; it is what the JSON encoder calls.
func (e *encoder) Write(p []byte) (int, error) {
	e.buf = append(e.buf, p...)
	return len(p), nil
}

func (e *encoder) reset() {
	if cap(e.buf) > keepBuffer {
		e.buf = nil
	}
	e.buf = e.buf[:0]
}

// Appender is a value that appends its own JSON, for rows that are stored so often that reflection counts.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// appendJSON appends v as JSON.
func (e *encoder) appendJSON(v any) (err error) {
	if a, ok := v.(Appender); ok {
		e.buf, err = a.AppendJSON(e.buf)
		return err
	}
	if err := e.json.Encode(v); err != nil {
		return err
	}
	e.buf = e.buf[:len(e.buf)-1] // the encoder ends with a new line
	return nil
}

// encode appends the stored form of v and returns it. The slice stays valid until reset.
func (e *encoder) encode(seed uint32, key []byte, v any) ([]byte, error) {
	start := len(e.buf)
	e.buf = append(e.buf, valueVersion, 0, 0, 0, 0)
	if err := e.appendJSON(v); err != nil {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("encode value: %w", err)
	}
	value := e.buf[start:]
	if len(value) > MaxValueSize {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("value of %d bytes is over the limit of %d", len(value), MaxValueSize)
	}
	binary.BigEndian.PutUint32(value[1:], checksum(seed, key, value[valueHeader:]))
	return value[:len(value):len(value)], nil
}

// payload checks the stored form and returns the JSON inside it, without copying.
func payload(seed uint32, key, value []byte) ([]byte, error) {
	if len(value) < valueHeader {
		return nil, fmt.Errorf("%w: value of %d bytes", ErrDamaged, len(value))
	}
	if value[0] != valueVersion {
		return nil, fmt.Errorf("%w: value version %d", ErrDamaged, value[0])
	}
	body := value[valueHeader:]
	if binary.BigEndian.Uint32(value[1:]) != checksum(seed, key, body) {
		return nil, fmt.Errorf("%w: checksum does not match", ErrDamaged)
	}
	return body, nil
}

// decode fills v from the stored form. JSON copies all it keeps, so nothing of the transaction's memory escapes.
func decode(seed uint32, key, value []byte, v any) error {
	body, err := payload(seed, key, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode value: %w", err)
	}
	return nil
}
