package setup

import (
	"fmt"
	"regexp"
	"strings"
)

// Diff shows what changes from one text to another, as diff -u does with three
// lines around each change, and hides passwords. It is empty if nothing does.
func Diff(before, after []byte) string {
	a, b := split(before), split(after)
	edits := compare(a, b)
	var out strings.Builder
	for start := 0; start < len(edits); {
		if edits[start].sign == ' ' {
			start++
			continue
		}
		end := hunkEnd(edits, start)
		from, to := max(start-around, 0), min(end+around, len(edits))
		hunk(&out, edits[from:to])
		start = to
	}
	return out.String()
}

// secretValue finds a secret that stands in a line; of secretKeys.
var secretValue = regexp.MustCompile(`\b((?:password|token)["']?:\s*)("[^"]*"|'[^']*'|[^\s,}#][^,}]*)`)

// around is how many lines are shown before and after a change.
const around = 3

// edit is one line that is kept (' '), taken away ('-') or new ('+').
type edit struct {
	sign byte
	line string
	a, b int // where it stands, or would
}

// hunkEnd is behind the last change that is near the one at start.
func hunkEnd(edits []edit, start int) int {
	end := start
	for i := start; i < len(edits) && i <= end+2*around; i++ {
		if edits[i].sign != ' ' {
			end = i
		}
	}
	return end + 1
}

func hunk(out *strings.Builder, edits []edit) {
	before, after := 0, 0
	for _, e := range edits {
		if e.sign != '+' {
			before++
		}
		if e.sign != '-' {
			after++
		}
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", edits[0].a+1, before, edits[0].b+1, after)
	for _, e := range edits {
		fmt.Fprintf(out, "%c%s\n", e.sign, secretValue.ReplaceAllString(e.line, "$1(hidden)"))
	}
}

// maxTable bounds the table of compare: texts that differ more are shown as
// taken away and new.
const maxTable = 4 << 20

// compare finds the longest lines in common, after what begins and ends alike.
func compare(a, b []string) (edits []edit) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		edits = append(edits, edit{' ', a[head], head, head})
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits = append(edits, middle(a[head:len(a)-tail], b[head:len(b)-tail], head)...)
	for i := tail; i > 0; i-- {
		edits = append(edits, edit{' ', a[len(a)-i], len(a) - i, len(b) - i})
	}
	return edits
}

func middle(a, b []string, head int) (edits []edit) {
	common := func(int, int) int { return 0 }
	if len(a)*len(b) <= maxTable {
		common = table(a, b)
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			edits = append(edits, edit{' ', a[i], head + i, head + j})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common(i+1, j) >= common(i, j+1):
			edits = append(edits, edit{'-', a[i], head + i, head + j})
			i++
		default:
			edits = append(edits, edit{'+', b[j], head + i, head + j})
			j++
		}
	}
	return edits
}

// table returns how many lines the rests of two texts have in common.
func table(a, b []string) func(i, j int) int {
	width := len(b) + 1
	t := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				t[i*width+j] = t[(i+1)*width+j+1] + 1
			} else {
				t[i*width+j] = max(t[(i+1)*width+j], t[i*width+j+1])
			}
		}
	}
	return func(i, j int) int { return int(t[i*width+j]) }
}
