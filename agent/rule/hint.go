package rule

import (
	"maps"
	"slices"
	"strings"

	"roomgate/agent/spelling"
)

// hint ends the message about an unknown word.
func hint(word string, known []string) string {
	if near := spelling.Nearest(word, known); near != "" {
		return ", nearest known is " + near
	}
	return ": want one of " + strings.Join(known, ", ")
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
