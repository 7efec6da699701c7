package outgoing

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LongestRetryAfter bounds how long the other side can make us wait.
const LongestRetryAfter = 24 * time.Hour

// RetryAfter reads the header (RFC 9110, 10.2.3): seconds or a date. What
// cannot be read, or is over, is 0; none is beyond LongestRetryAfter.
func RetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseUint(text, 10, 63); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, uint64(LongestRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), LongestRetryAfter)
}
