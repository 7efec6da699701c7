//go:build lab

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"strings"
	"time"

	"roomgate/agent/claim"
	"roomgate/agent/qr/qrtest"
)

// claim: the attached screen shows the code by which the gateway is claimed at the
// cloud, until it is.
func (d *debian) claim() {
	var c claim.Status
	d.within(time.Minute, "the gateway waits to be claimed", func() bool {
		raw := d.sh("roomgate claim --output json")
		if err := json.Unmarshal([]byte(raw), &c); err != nil {
			d.Fatalf("the claim is %q: %v", raw, err)
		}
		return c.State == claim.Waiting && c.CloudConnected
	})
	var s attached // as it was last seen: a login may just be drawing it
	var read string
	for end := time.Now().Add(time.Minute); read != c.URL || !strings.Contains(s.text(), c.Code); time.Sleep(time.Second) {
		if time.Now().After(end) {
			d.Fatalf("a phone reads %q on the screen, want %q for the code %s:\n%s", read, c.URL, c.Code, s.text())
		}
		s = d.screen()
		read = scanned(s.picture())
	}
	began := time.Now()
	got := d.tool("roomgate", "cloud", "claim", "wall-1", c.Code, "--organization", "Landlord", "--cloud", d.cloud)
	if !strings.Contains(got, "belongs to Landlord") {
		d.Errorf("the cloud says %q", got)
	}
	if got := d.sh("roomgate claim"); !strings.Contains(got, "belongs to Landlord since ") {
		d.Errorf("the gateway says %q", got)
	}
	d.within(time.Minute, "the code has gone from the screen", func() bool { return !strings.Contains(d.screen().text(), c.Code) })
	d.Logf("note: claimed, and off the screen after %v", time.Since(began).Round(time.Second))
}

// attached is what stands on the attached screen, line by line.
type attached [][]rune

// screen reads the first console, in the characters of vcsu(4).
func (d *debian) screen() attached {
	d.Helper()
	raw, err := base64.StdEncoding.DecodeString(d.sh("{ head -c 2 /dev/vcsa1; cat /dev/vcsu1; } | base64 -w 0"))
	if err != nil || len(raw) < 2 || len(raw) != 2+4*int(raw[0])*int(raw[1]) {
		d.Fatalf("%d bytes of a screen: %v", len(raw), err)
	}
	s := make(attached, raw[0])
	cells := bytes.NewReader(raw[2:])
	for y := range s {
		s[y] = make([]rune, raw[1])
		if err := binary.Read(cells, binary.LittleEndian, s[y]); err != nil {
			d.Fatal(err)
		}
	}
	return s
}

func (s attached) text() string {
	var b strings.Builder
	for _, line := range s {
		b.WriteString(string(line) + "\n")
	}
	return b.String()
}

// picture is the screen as a camera sees its blocks, of which a line has two.
func (s attached) picture() image.Image {
	const size = 4
	p := image.NewGray(image.Rect(0, 0, len(s[0])*size, 2*len(s)*size))
	for y := range p.Rect.Dy() {
		for x := range p.Rect.Dx() {
			half := []rune{'▀', '▄'}[y/size%2]
			if r := s[y/size/2][x/size]; r == '█' || r == half {
				p.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	return p
}

// scanned is what a phone reads in a picture, or why it does not.
func scanned(p image.Image) string {
	got, err := qrtest.Read(p)
	if err != nil {
		return err.Error()
	}
	return got
}
