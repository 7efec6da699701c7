package health

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// disk lays out what the kernel says of a disk with one part, numbered 179:2.
func disk(t *testing.T, life string) (root string) {
	t.Helper()
	root = t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const card = "sys/devices/platform/mmc/block/mmcblk0"
	write(card+"/size", "15523840")
	write(card+"/mmcblk0p2/partition", "2")
	write(card+"/mmcblk0p2/size", "1000")
	if life != "" {
		write(card+"/device/life_time", life)
	}
	if err := os.MkdirAll(filepath.Join(root, "sys/dev/block"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, card, "mmcblk0p2"), filepath.Join(root, "sys/dev/block/179:2")); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestCardBelowAFolder(t *testing.T) {
	for life, want := range map[string]int{"": -1, "0x00 0x00": -1, "0x01 0x03": 30, "0x0b 0x01": 100, "0xff 0x01": -1, "no": -1} {
		c := cardOf(disk(t, life), "179:2")
		if c == nil || c.Name != "mmcblk0" || c.Bytes != 15523840*512 {
			t.Fatalf("%q: %+v", life, c)
		}
		if got := c.UsedPercent; (got == nil) != (want < 0) || got != nil && *got != want {
			t.Errorf("%q: used %v, want %d", life, got, want)
		}
	}
	if c := cardOf(t.TempDir(), "0:42"); c != nil {
		t.Errorf("of memory: %+v", c)
	}
	if c := cardBelow(t.TempDir(), "/nowhere"); c != nil {
		t.Errorf("of a folder that is not there: %+v", c)
	}
}

func TestHowLongACardLasts(t *testing.T) {
	for _, c := range []struct {
		up, inDay int64
		known     bool
		pace      float64
		years     float64
	}{
		{599, 1 << 30, false, 0, longest},
		{3600, 1 << 30, true, 24 << 30, 0.8},
		{86400, 2 << 30, true, 2 << 30, 10.1},
		{10 * 86400, 2 << 30, true, 2 << 30, 10.1},
		{86400, 0, true, 0, longest},
	} {
		pace, known := BytesPerDay(c.up, c.inDay)
		if years := Estimate(15523840*512, pace); pace != c.pace || known != c.known || known && years != c.years {
			t.Errorf("%d bytes in %d s: %g a day, %v, %g years, want %g, %v, %g", c.inDay, c.up, pace, known, years, c.pace, c.known, c.years)
		}
	}
}

// TestReportSaysWhatWasWritten, by the day and with the card's life.
func TestReportSaysWhatWasWritten(t *testing.T) {
	inRig(t, func(t *testing.T, r *rig) {
		r.card = &Card{Name: "mmcblk0", Bytes: 8 << 30}
		if got := r.Report(); got.StoreWrittenDay == 0 || got.StoreWrittenDay != got.StoreWritten || got.Card == nil || got.Card.YearsEstimate != nil {
			t.Errorf("at the start: %+v, card %+v", got, got.Card)
		}
		time.Sleep(time.Hour)
		r.fill(10)
		got := r.Report()
		if y := got.Card.YearsEstimate; y == nil || *y != longest {
			t.Errorf("after an hour: card %+v", got.Card)
		}
		time.Sleep(24 * time.Hour)
		if got := r.Report(); got.StoreWrittenDay != 0 || got.StoreWritten == 0 {
			t.Errorf("after a quiet day: %d in a day, %d in all", got.StoreWrittenDay, got.StoreWritten)
		}
	})
}
