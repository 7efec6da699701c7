package store

import (
	"encoding/json"
	"fmt"

	"roomgate/store/pages"
)

// MaxValueSize bounds one encoded value in bytes.
const MaxValueSize = pages.MaxValueSize

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
	e.buf = append(e.buf, make([]byte, pages.ValueHeader)...)
	if err := e.appendJSON(v); err != nil {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("encode value: %w", err)
	}
	value := e.buf[start:]
	if len(value) > MaxValueSize {
		e.buf = e.buf[:start]
		return nil, fmt.Errorf("value of %d bytes is over the limit of %d", len(value), MaxValueSize)
	}
	pages.Seal(seed, key, value)
	return value[:len(value):len(value)], nil
}

// decode fills v from the stored form. JSON copies all it keeps, so nothing of the transaction's memory escapes.
func decode(seed uint32, key, value []byte, v any) error {
	body, err := pages.Payload(seed, key, value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode value: %w", err)
	}
	return nil
}
