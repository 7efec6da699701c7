package console

import "testing"

// TestSentence: what was said becomes a sentence of a page, and nothing stays nothing.
func TestSentence(t *testing.T) {
	for said, want := range map[string]string{"": "", "it was stopped before its end": "It was stopped before its end."} {
		if got := sentence(said); got != want {
			t.Errorf("%q becomes %q, want %q", said, got, want)
		}
	}
}
