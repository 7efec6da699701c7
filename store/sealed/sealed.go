// Package sealed turns values into the bytes of a row and back: JSON below a seal that its table and key are part of. It
// knows no database and writes nothing.
package sealed

import (
	"encoding/json"
	"fmt"

	"roomgate/store/pages"
)

// Encoder turns values into bytes in one growing buffer. bbolt keeps the slices until the commit, so the buffer is
// only given free between transactions, by Reset. The zero value is not ready, see New. It belongs to one goroutine at a time.
type Encoder struct {
	buf  []byte
	json *json.Encoder
}

const keepBuffer = 1 << 20

// New returns an encoder.
func New() *Encoder {
	e := &Encoder{}
	e.json = json.NewEncoder(e)
	e.json.SetEscapeHTML(false)
	return e
}

// Write appends; it is what the JSON encoder calls.
func (e *Encoder) Write(p []byte) (int, error) {
	e.buf = append(e.buf, p...)
	return len(p), nil
}

// Reset gives the buffer free: what Encode has returned is no longer valid.
func (e *Encoder) Reset() {
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
func (e *Encoder) appendJSON(v any) (err error) {
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

// Encode appends the stored form of v under key and returns it; seed is that of the table, see pages.Seed. The slice stays
// valid until Reset. The error says that v is no JSON, or longer than pages.MaxValueSize.
func (e *Encoder) Encode(seed uint32, key []byte, v any) ([]byte, error) {
	start := len(e.buf)
	e.buf = append(e.buf, make([]byte, pages.ValueHeader)...)
	if err := e.appendJSON(v); err != nil {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("encode value: %w", err)
	}
	value := e.buf[start:]
	if len(value) > pages.MaxValueSize {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("value of %d bytes is over the limit of %d", len(value), pages.MaxValueSize)
	}
	pages.Seal(seed, key, value)
	return value[:len(value):len(value)], nil
}

// Decode fills v from the stored form. The error wraps pages.ErrDamaged if the seal does not fit. JSON copies all it keeps, so nothing of the transaction's memory escapes.
func Decode(seed uint32, key, value []byte, v any) error {
	body, err := pages.Payload(seed, key, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode value: %w", err)
	}
	return nil
}
