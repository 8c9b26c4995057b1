package fsconf

import (
	"strings"
	"testing"
)

// TestFirstKnownProtectionIsUsed reads the list as Hadoop does.
func TestFirstKnownProtectionIsUsed(t *testing.T) {
	for list, want := range map[string]string{
		"": "", "privacy": "privacy", "authentication,privacy": "authentication", "none,Integrity": "integrity", "none,other": "none,other",
	} {
		if got := protection(strings.FieldsFunc(list, func(r rune) bool { return r == ',' })); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}
