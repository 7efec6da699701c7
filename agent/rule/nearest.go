package rule

import (
	"maps"
	"slices"
	"strings"
)

// nearest returns the word of known that was probably meant, or "".
func nearest(word string, known []string) string {
	best, least := "", len(word)/3+2
	for _, k := range known {
		if d := distance(strings.ToLower(word), k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many letters have to be changed, added or taken away.
func distance(a, b string) int {
	if len(a) > 60 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// hint ends the message about an unknown word.
func hint(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return ", nearest known is " + near
	}
	return ": want one of " + strings.Join(known, ", ")
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
