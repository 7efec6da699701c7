package update

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// semver is a version without build metadata (semver.org, 2.0.0).
var semver = regexp.MustCompile(`^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$`)

// described is what "git describe" adds to a tag when there are commits after it.
var described = regexp.MustCompile(`(-\d+-g[0-9a-f]{7,40})?(-dirty)?$`)

const maxVersion = 64 // bytes

// Canonical is the version without a leading v, fit to be the name of a folder,
// or "" if it is none.
func Canonical(version string) string {
	if len(version) > maxVersion || !semver.MatchString(version) {
		return ""
	}
	return strings.TrimPrefix(version, "v")
}

// Compare orders versions as semver.org does: -1 if a is older than b, 0, or 1.
// Builds between two tags count as the tag that they follow. A text that is no version,
// as "dev", is older than every one.
func Compare(a, b string) int {
	if a == b {
		return 0 // which spares anybody who waits for a release the parser
	}
	x, y := semver.FindStringSubmatch(described.ReplaceAllString(a, "")), semver.FindStringSubmatch(described.ReplaceAllString(b, ""))
	if x == nil || y == nil {
		return cmp.Compare(len(x), len(y))
	}
	for i := 1; i <= 3; i++ {
		if c := compareNumbers(x[i], y[i]); c != 0 {
			return c
		}
	}
	switch {
	case x[4] == y[4]:
		return 0
	case x[4] == "" || y[4] == "": // a release is newer than what leads to it
		return cmp.Compare(len(y[4]), len(x[4]))
	}
	return comparePre(strings.Split(x[4], "."), strings.Split(y[4], "."))
}

// comparePre orders what stands behind the dash: numbers before words.
func comparePre(x, y []string) int {
	for i := range min(len(x), len(y)) {
		_, notX := strconv.ParseUint(x[i], 10, 64)
		_, notY := strconv.ParseUint(y[i], 10, 64)
		c := 0
		switch {
		case notX == nil && notY == nil:
			c = compareNumbers(x[i], y[i])
		case notX == nil:
			c = -1
		case notY == nil:
			c = 1
		default:
			c = strings.Compare(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}

// compareNumbers compares decimal numbers.
func compareNumbers(x, y string) int {
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
}
