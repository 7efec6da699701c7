package host

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"periph.io/x/conn/v3/physic"
	"periph.io/x/conn/v3/spi/spitest"
)

func TestSPITransfersAreCut(t *testing.T) {
	recorded := &spitest.Record{}
	conn, err := recorded.Connect(physic.MegaHertz, 0, 8)
	if err != nil {
		t.Fatal(err)
	}
	p := &port{name: "spidev0.0", lane: newLane("SPI port spidev0.0"), conn: conn, closer: recorded, most: 4, release: func() {}}
	long := []byte("0123456789")
	if err := p.Tx(long, nil); err != nil {
		t.Fatal(err)
	}
	var joined []byte
	for _, io := range recorded.Ops {
		if len(io.W) > 4 {
			t.Errorf("a transfer of %d bytes, want at most 4", len(io.W))
		}
		joined = append(joined, io.W...)
	}
	if len(recorded.Ops) != 3 || !bytes.Equal(joined, long) {
		t.Errorf("%d transfers, %q", len(recorded.Ops), joined)
	}
	if err := p.Tx(long, make([]byte, 3)); err == nil {
		t.Error("lengths that differ were taken")
	}
}

func TestSPILimit(t *testing.T) {
	b := empty(t)
	if n := b.spiLimit(); n != 4096 {
		t.Errorf("without a module: %d", n)
	}
	dir := filepath.Join(b.sys, "module", "spidev", "parameters")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bufsiz"), []byte("65536\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := b.spiLimit(); n != 65536 {
		t.Errorf("limit %d, want the module's", n)
	}
}
