package cli

import "testing"

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "16m": 16 << 20, "1G": 1 << 30, "3k": 3 << 10} {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "m", "-1", "0", "1t", "9999999g", "1.5g"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}
