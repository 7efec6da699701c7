package doctor

import (
	"context"
	"path/filepath"
	"strings"

	"roomgate/agent/seed"
)

// seedIssue is what the service of the seed has said on the attached screen.
const seedIssue = "run/roomgate-seed/seed.issue"

// seeds says that a seed lies on the boot partition which did not become the
// configuration: one with a mistake, or one whose name an editor has made longer.
func seeds(_ context.Context, x *examination) []Finding {
	const name = "seed"
	for _, folder := range seed.Folders() {
		right := filepath.Join("/", folder, seed.Name)
		if _, ok := x.exists(right); ok {
			return one(fail(name, right+" was not taken"+seedMistake(x), "correct it there, then sudo systemctl restart roomgate-seed && sudo systemctl restart roomgate"))
		}
		if other := seed.Misnamed(x.path(folder)); other != "" {
			other = filepath.Join("/", folder, filepath.Base(other))
			return one(fail(name, other+" is not taken: its name is not "+seed.Name, "sudo mv "+other+" "+right+", and start this machine again"))
		}
	}
	return nil
}

// seedMistake is the first mistake in the seed, if it was looked at.
func seedMistake(x *examination) string {
	for line := range strings.Lines(x.read(seedIssue)) {
		if mistake, ok := strings.CutPrefix(line, "  "); ok {
			return ": " + strings.TrimSpace(mistake)
		}
	}
	return ""
}
