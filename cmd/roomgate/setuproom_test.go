package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"roomgate/agent/setup"

	"roomgate/cmd/roomgate/show"
)

// The one camera on USB is proposed for the first room, and for no other.
func TestACameraIsProposed(t *testing.T) {
	const path = "/dev/v4l/by-id/usb-cam-video-index0"
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	w := &wizard{cmd: cmd, Terminal: show.NewTerminal(strings.NewReader("\n\n"), &out),
		board: setup.Board{Cameras: []setup.Video{{Path: path}}}}
	a := setup.NewAnswers()
	for _, room := range []string{"Atlas", "Bora"} {
		if err := w.askCamera(a.Space(room, "UTC")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := a.YAML()
	if err != nil || strings.Count(string(got), "device: "+path) != 1 || !strings.Contains(out.String(), "path or URL ["+path+"]") {
		t.Errorf("%v\n%s\n%s", err, out.String(), got)
	}
}
