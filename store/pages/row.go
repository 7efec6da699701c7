package pages

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// A value on disk is one byte version, four bytes CRC-32C (big-endian) over bucket, key and payload, then JSON.
const (
	// ValueHeader is the number of bytes before the JSON of a value.
	ValueHeader = 5
	// MaxValueSize bounds one value with its header, in bytes.
	MaxValueSize = 4 << 20

	valueVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seed starts the checksum of every value in a bucket, so that a value cannot pass in another bucket.
func Seed(bucket []byte) uint32 { return crc32.Checksum(bucket, castagnoli) }

func checksum(seed uint32, key, payload []byte) uint32 {
	return crc32.Update(crc32.Update(seed, castagnoli, key), castagnoli, payload)
}

// Seal fills in the first ValueHeader bytes of a value, which has its JSON behind them.
func Seal(seed uint32, key, value []byte) {
	value[0] = valueVersion
	binary.BigEndian.PutUint32(value[1:], checksum(seed, key, value[ValueHeader:]))
}

// Payload checks the stored form and returns the JSON inside it, without copying. The error wraps ErrDamaged.
func Payload(seed uint32, key, value []byte) ([]byte, error) {
	if len(value) < ValueHeader {
		return nil, fmt.Errorf("%w: value of %d bytes", ErrDamaged, len(value))
	}
	if value[0] != valueVersion {
		return nil, fmt.Errorf("%w: value version %d", ErrDamaged, value[0])
	}
	body := value[ValueHeader:]
	if binary.BigEndian.Uint32(value[1:]) != checksum(seed, key, body) {
		return nil, fmt.Errorf("%w: checksum does not match", ErrDamaged)
	}
	return body, nil
}
