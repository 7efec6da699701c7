package auth

import "testing"

func TestTypedCodes(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		code := NewTyped()
		if len(code) != typedSize+1 || seen[code] || TypedText(TypedText(code)) != TypedText(code) {
			t.Fatalf("%q is no code, or there twice", code)
		}
		seen[code] = true
	}
	for typed, want := range map[string]string{"7K3M-QX9D": "7K3MQX9D", " 7k3m qx9d ": "7K3MQX9D", "oil-0u": "0110V"} {
		if got := TypedText(typed); got != want {
			t.Errorf("%q reads as %q", typed, got)
		}
	}
}

// FuzzTypedText: what somebody types reads as itself, and never as more.
func FuzzTypedText(f *testing.F) {
	for _, s := range []string{"7K3M-QX9D", "7k3m qx9d", "OIL0-1111", "", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := TypedText(s)
		if len(s) <= 4*typedSize && TypedText(once) != once && len(once) <= 4*typedSize {
			t.Errorf("%q reads as %q, and that as %q", s, once, TypedText(once))
		}
	})
}
