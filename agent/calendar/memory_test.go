//go:build !race

package calendar

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMemoryOfHostileCalendars works calendars out that somebody has put together
// to be dear. Beside the text itself they take less than three times as much.
func TestMemoryOfHostileCalendars(t *testing.T) {
	const times = "DTSTART:20260105T100000Z\nDURATION:PT1H\n"
	const size = maxBytes / 4
	for what, part := range map[string]func(i int) string{
		"many events": func(i int) string { return fmt.Sprintf("BEGIN:VEVENT\nUID:%x\n%sEND:VEVENT\n", i, times) },
		"long titles": func(i int) string {
			return fmt.Sprintf("BEGIN:VEVENT\nUID:%x\n%sSUMMARY:%s\nEND:VEVENT\n", i, times, strings.Repeat("x", 900))
		},
		"every day": func(i int) string {
			return fmt.Sprintf("BEGIN:VEVENT\nUID:%x\n%sRRULE:FREQ=DAILY\nEND:VEVENT\n", i, times)
		},
		"long ids": func(i int) string {
			return fmt.Sprintf("BEGIN:VEVENT\nUID:%x%s\n%sEND:VEVENT\n", i, strings.Repeat("x", 600), times)
		},
		"many lines":  func(int) string { return "X:1\n" },
		"nested deep": func(int) string { return "BEGIN:X\n" },
		"many problems": func(i int) string {
			return fmt.Sprintf("BEGIN:VEVENT\nUID:%x\nDTSTART:%s\nEND:VEVENT\n", i, strings.Repeat("x", 500))
		},
	} {
		var b bytes.Buffer
		b.WriteString("BEGIN:VCALENDAR\n")
		for i := 0; b.Len() < size; i++ {
			b.WriteString(part(i))
		}
		b.WriteString("END:VCALENDAR\n")
		body := b.Bytes()
		peak := live(func() { _, _ = parse(body, time.UTC, january, february) })
		if peak > 3*size+20<<20 { // and the occurrences, of which there are so many at most
			t.Errorf("%s: %d MiB", what, peak>>20)
		}
		runtime.KeepAlive(body)
	}
}

// live is the most that was in use at one time while f ran, beside what was
// before.
func live(f func()) (peak int64) {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return peak
		case <-time.After(5 * time.Millisecond):
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, int64(now.HeapAlloc)-int64(before.HeapAlloc))
		}
	}
}

// TestLargeCalendarIsNotHeld: what packs badly is fetched again instead of
// being kept for each room.
func TestLargeCalendarIsNotHeld(t *testing.T) {
	noise := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	var fetched int
	feed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if fetched++; r.Header.Get("If-None-Match") != "" {
			t.Error("it asks whether it has changed, and has nothing to compare with")
		}
		w.Header().Set("ETag", `"one"`)
		_, _ = io.WriteString(w, calendarOf(eventOf("UID:1", "DTSTART:20260105T100000Z", "DURATION:PT1H", "X-PICTURE:"+base64.StdEncoding.EncodeToString(noise))))
	})
	for range 2 {
		if got, err := feed.Fetch(t.Context(), january, february); err != nil || len(got.Occurrences) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if fetched != 2 || len(feed.held.packed) > maxHeld {
		t.Errorf("fetched %d times, and %d bytes are held", fetched, len(feed.held.packed))
	}
}
