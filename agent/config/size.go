package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as "64 MiB", "64MiB" or "67108864".
type Size int64

// units are the suffixes of a size. Bare bytes are last, because "B" ends them
// all.
var units = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size. Sizes below zero or above 1 TiB are refused.
func (s *Size) UnmarshalText(text []byte) error {
	for _, u := range units {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > (1<<40)/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("want a size like 256 MiB")
}

// String is the size in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range units[:3] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return fmt.Sprintf("%d %s", int64(s)/u.bytes, u.suffix)
		}
	}
	return fmt.Sprintf("%d B", int64(s))
}
