//go:build lab

package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mistakes: a seed with two of them changes nothing, and whoever stands at the
// attached screen reads where they are, until it is corrected.
func (d *debian) mistakes() {
	answers, err := os.ReadFile(filepath.Join(d.images, "answers.yaml"))
	if err != nil {
		d.Fatal(err)
	}
	d.seed(strings.NewReplacer("Europe/Berlin", "Europe/Berlino", "relock:", "relok:").Replace(string(answers)))
	for _, want := range []string{
		"the seed in /boot/firmware has 2 mistakes, nothing has changed:",
		`spaces[0].timezone is "Europe/Berlino": want an IANA name like Europe/Berlin`,
		`unknown key "relok" in spaces[0].devices[0].options, nearest known key is "relock"`,
		"correct it on the card, and switch on again",
	} {
		d.within(time.Minute, "the screen says: "+want, func() bool { return d.screen().says(want) })
	}
	const state = "roomgate space list --output json | grep timezone; ls /boot/firmware/roomgate-seed.yaml 2>&1; systemctl is-active roomgate-seed || :"
	if got := d.sh(state); !strings.Contains(got, "Europe/Berlin\"") || !strings.HasSuffix(got, "\n/boot/firmware/roomgate-seed.yaml\nfailed") {
		d.Errorf("beside a seed with mistakes: %s", got)
	}
	d.seed(strings.Replace(string(answers), "Europe/Berlin", "Europe/Vienna", 1))
	if got := d.sh(state); !strings.Contains(got, "Europe/Vienna\"") || !strings.Contains(got, "No such file") || !strings.HasSuffix(got, "\nactive") {
		d.Errorf("after the seed was corrected: %s", got)
	}
	d.within(time.Minute, "the mistakes have gone from the screen", func() bool {
		s := d.screen()
		return s.says("login:") && !s.says("mistake")
	})
}

// seed puts another seed onto the card, and switches the machine off and on.
func (d *debian) seed(text string) {
	d.Helper()
	d.sh("echo " + base64.StdEncoding.EncodeToString([]byte(text)) + " | base64 -d >/boot/firmware/roomgate-seed.yaml; sync")
	d.cut()
	d.on()
	d.serves()
}

// says whether that stands on the screen, however its lines were broken.
func (s attached) says(what string) bool {
	return strings.Contains(strings.ReplaceAll(s.text(), "\n", ""), what)
}
