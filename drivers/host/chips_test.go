package host

import (
	"os"
	"path/filepath"
	"testing"
)

// A board without chips has none, and a file that is no chip is told.
func TestChips(t *testing.T) {
	dev := t.TempDir()
	b := at(dev, t.TempDir())
	if chips := b.Chips(); len(chips) != 0 {
		t.Errorf("got %+v", chips)
	}
	path := filepath.Join(dev, "gpiochip0")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	chips := b.Chips()
	if len(chips) != 1 || chips[0].Path != path || chips[0].Err == nil {
		t.Errorf("got %+v", chips)
	}
}
