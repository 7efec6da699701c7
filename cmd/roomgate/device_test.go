package main

import (
	"slices"
	"strings"
	"testing"
)

// A device is named as the tables show it; a slip of the hand is told with what was meant.
func TestAddressed(t *testing.T) {
	for word, want := range map[string]string{"lock": "aurora lock", "temperature": "aurora o3-sensor temperature", "temprature": "aurora o3-sensor temprature",
		"all": "aurora all", "nonsense": "aurora nonsense"} {
		if got, err := addressed([]string{"aurora", word}, 1); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
	for word, want := range map[string]string{"lok": "lock", "tempreature": "temperature", "ringlihgt": "ring-light"} {
		if got, err := addressed([]string{"aurora", word}, 1); err == nil || !strings.HasSuffix(err.Error(), `did you mean "`+want+`"?`) {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
	if got, err := addressed([]string{"aurora"}, 1); err != nil || !slices.Equal(got, []string{"aurora"}) {
		t.Errorf("%q, %v", got, err)
	}
}
