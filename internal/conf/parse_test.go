package conf

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "1": 1, "10k": 10 << 10, "2M": 2 << 20, "3g": 3 << 30, "1t": 1 << 40, "-1k": -1024,
		"9223372036854775807": math.MaxInt64, "8388607t": 8388607 << 40} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("%s: %d, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "k", "1kb", "1.5m", "8388608t", "9223372036854775808", "1 k", "0x1", "١"} {
		if n, err := ParseSize(s); err == nil {
			t.Errorf("%q is %d", s, n)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{"0": 0, "1": time.Millisecond, "20ms": 20 * time.Millisecond, "7us": 7 * time.Microsecond, "3s": 3 * time.Second,
		"4M": 4 * time.Minute, "5h": 5 * time.Hour, "-1": -time.Millisecond} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "s", "1.5s", "1d", "9223372036854775807", "2562048h", "1 s", "ms", "us", "9223372036854776us"} {
		if d, err := ParseDuration(s); err == nil {
			t.Errorf("%q is %v", s, d)
		}
	}
}

// FuzzParse compares the parsers with big-integer arithmetic, which cannot overflow.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-5k", "7ms", "8m", "99999999999999999t", "9223372036854775807"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lower := strings.ToLower(s)
		exact := func(units map[string]int64, got int64) {
			for suffix, unit := range units {
				var n big.Int
				number, ok := strings.CutSuffix(lower, suffix)
				if _, fine := n.SetString(number, 10); !ok || !fine || strings.Contains(number, "_") {
					continue
				}
				if n.Mul(&n, big.NewInt(unit)); n.Cmp(big.NewInt(got)) != 0 {
					t.Errorf("%q is %d, want %v", s, got, &n)
				}
				return
			}
			t.Errorf("%q is %d", s, got)
		}
		if n, err := ParseSize(s); err == nil {
			exact(map[string]int64{"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}, n)
		}
		if d, err := ParseDuration(s); err == nil {
			exact(map[string]int64{"": 1e6, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}, int64(d))
		}
		if _, err := ParseBool(s); err == nil && lower != "true" && lower != "false" {
			t.Errorf("%q is a truth value", s)
		}
	})
}
