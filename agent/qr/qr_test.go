package qr

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"roomgate/agent/qr/qrtest"
)

// pixels is how large a module is in the pictures that are read.
const pixels = 4

// picture paints modules; what lies outside of them is as a page in the dark.
func picture(width, height int, light func(x, y int) bool) image.Image {
	const around = 6
	p := image.NewGray(image.Rect(0, 0, (width+2*around)*pixels, (height+2*around)*pixels))
	for y := range height * pixels {
		for x := range width * pixels {
			if light(x/pixels, y/pixels) {
				p.SetGray(x+around*pixels, y+around*pixels, color.Gray{Y: 255})
			}
		}
	}
	return p
}

// read is what another program than ours reads in a picture.
func read(t *testing.T, p image.Image) string {
	t.Helper()
	got, err := qrtest.Read(p)
	if err != nil {
		t.Fatalf("nobody can read it: %v", err)
	}
	return got
}

// onScreen paints what a terminal shows, and wants it to set its colours and
// to fit into lines of the same width.
func onScreen(t *testing.T, text string) image.Image {
	t.Helper()
	var rows [][]bool // light
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\x1b[40;37;1m")
		line, ends := strings.CutSuffix(line, "\x1b[0m")
		if !ok || !ends {
			t.Fatalf("line %q does not set its colours, or leaves them", line)
		}
		var above, below []bool
		for _, r := range line {
			above, below = append(above, r == '█' || r == '▀'), append(below, r == '█' || r == '▄')
			if !strings.ContainsRune("█▀▄ ", r) {
				t.Fatalf("line %q has a %q", line, r)
			}
		}
		rows = append(rows, above, below)
		if len(above) != len(rows[0]) {
			t.Fatalf("line %q has another width", line)
		}
	}
	return picture(len(rows[0]), len(rows), func(x, y int) bool { return rows[y][x] })
}

// onPage paints what a browser shows of an SVG element of paths.
func onPage(t *testing.T, text string) image.Image {
	t.Helper()
	var svg struct {
		ViewBox string `xml:"viewBox,attr"`
		Label   string `xml:"aria-label,attr"`
		Path    []struct {
			Fill string `xml:"fill,attr"`
			D    string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(text), &svg); err != nil {
		t.Fatal(err)
	}
	var side int
	if _, err := fmt.Sscanf(svg.ViewBox, "0 0 %d", &side); err != nil || len(svg.Path) != 2 || svg.Label != "a code" {
		t.Fatalf("viewBox %q, %d paths, label %q: %v", svg.ViewBox, len(svg.Path), svg.Label, err)
	}
	if want := fmt.Sprintf("M0 0h%dv%dH0z", side, side); svg.Path[0].Fill != "#fff" || svg.Path[0].D != want {
		t.Fatalf("it lies on %+v, want %s", svg.Path[0], want)
	}
	dark := map[[2]int]bool{}
	for _, bar := range strings.SplitAfter(strings.TrimSuffix(svg.Path[1].D, "z"), "z") {
		var x, y, width, back int
		if _, err := fmt.Sscanf(bar, "M%d %dh%dv1h-%d", &x, &y, &width, &back); err != nil || back != width {
			t.Fatalf("%q: %v", bar, err)
		}
		for i := range width {
			dark[[2]int{x + i, y}] = true
		}
	}
	return picture(side, side, func(x, y int) bool { return !dark[[2]int{x, y}] })
}

// TestPhonesReadIt lets a decoder of others read codes of every size that links
// may need, from a terminal and from a page.
func TestPhonesReadIt(t *testing.T) {
	for n := range 15 {
		text := fmt.Sprintf("https://rooms.example.com/claim?code=%04X-7K3M-QX9D-%04X&gateway=berlin-%d%s", n*1637%65536, n*40503%65536, n, strings.Repeat("x", 9*n))
		c, err := New(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, onScreen(t, c.Terminal())); got != text {
			t.Errorf("on a terminal %q is read as %q", text, got)
		}
		if got := read(t, onPage(t, c.SVG("a code"))); got != text {
			t.Errorf("on a page %q is read as %q", text, got)
		}
	}
}

// TestBorder wants the light border of four modules on every side.
func TestBorder(t *testing.T) {
	c, err := New("x")
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.side() {
		for d := range quiet {
			far := c.side() - 1 - d
			if c.dark(i, d) || c.dark(d, i) || c.dark(i, far) || c.dark(far, i) {
				t.Fatalf("module %d in the border of depth %d is dark", i, d)
			}
		}
	}
	if !c.dark(quiet, quiet) {
		t.Error("the code does not begin behind the border")
	}
}

func TestTooLong(t *testing.T) {
	if _, err := New(strings.Repeat("x", 2954)); err == nil {
		t.Error("a text that is too long is taken")
	}
}

// TestEveryCodeIsRead: also those of which the decoder does not find the corners.
func TestEveryCodeIsRead(t *testing.T) {
	for i := range 300 {
		want := fmt.Sprintf("http://gateway.local:8080/display/aurora#code=%08X", uint32(i)*0x9e3779b1)
		code, err := New(want)
		if err != nil {
			t.Fatal(err)
		}
		p := image.NewGray(image.Rect(0, 0, code.side()*pixels, code.side()*pixels))
		for i := range p.Pix {
			if x, y := i%p.Stride, i/p.Stride; !code.dark(x/pixels, y/pixels) {
				p.Pix[i] = 255
			}
		}
		got := read(t, p)
		if got != want {
			t.Fatalf("read %q, want %q", got, want)
		}
	}
}
