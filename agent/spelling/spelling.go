// Package spelling finds the word that somebody has probably meant.
package spelling

import "strings"

// longest is how many bytes of a word are looked at.
const longest = 64

// fold leaves out what people mix up.
var fold = strings.NewReplacer("-", "", "_", "")

// Nearest returns the word of known that was probably meant, or "" if none is near.
// Case, dashes and underscores do not count, so that passwordFile finds
// password_file. Of a word with dots the part behind the last one says how far off it
// may be.
func Nearest(word string, known []string) string {
	if len(word) > longest {
		word = word[:longest]
	}
	word = fold.Replace(strings.ToLower(word))
	best, most := "", 1+len(word[strings.LastIndexByte(word, '.')+1:])/4
	for _, k := range known {
		if d := distance(word, fold.Replace(strings.ToLower(k))); d <= most && d < max(len(word), 1) {
			best, most = k, d-1
		}
	}
	return best
}

// distance is how many letters must be added, dropped, changed or swapped
// with their neighbour to make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
