package decimal

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Number
	}{
		{"0", 0}, {"1", One}, {"-1", -One}, {"+2.5", 2_500_000}, {".5", 500_000}, {"5.", 5 * One},
		{"-0.000001", -1}, {"007", 7 * One}, {"1.100000", 1_100_000},
		{"9223372036854.775807", math.MaxInt64}, {"-9223372036854.775808", math.MinInt64},
	} {
		if got, err := Parse([]byte(c.text)); err != nil || got != c.want {
			t.Errorf("Parse(%q) = %d, %v, want %d", c.text, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "-", ".", "+.", "1e3", "NaN", "0x1", "1.2.3", "1,5", " 1", "--1", ".+5", "+.-5", "1.0000000"} {
		if got, err := Parse([]byte(text)); !errors.Is(err, errSyntax) {
			t.Errorf("Parse(%q) = %v, %v, want a syntax error", text, got, err)
		}
	}
	for _, text := range []string{"9223372036854.775808", "-9223372036854.775809", "99999999999999999999", "10000000000000"} {
		if got, err := Parse([]byte(text)); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, got)
		}
	}
}

// TestParseShort compares parseShort with parseAny.
func TestParseShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[-+]{0,2}[0-9.]{0,14}[-+.e]?`).Draw(t, "text"))
		got, ok := parseShort(text)
		if want, err := parseAny(text); ok && (err != nil || got != want) {
			t.Fatalf("parseShort(%q) = %d, want %d, %v", text, got, want, err)
		}
	})
	for text, want := range map[string]bool{"12.5": true, "-12.5": true, "5.": true, "123456789012": true, "1234567890123": false, "1.0000000": false, "+1": false} {
		if _, ok := parseShort([]byte(text)); ok != want {
			t.Errorf("parseShort(%q): %v, want %v", text, ok, want)
		}
	}
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Number(rapid.Int64().Draw(t, "n"))
		text := n.String()
		if got, err := Parse([]byte(text)); err != nil || got != n {
			t.Fatalf("Parse(%q) = %d, %v, want %d", text, got, err, n)
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok || exact.Cmp(big.NewRat(int64(n), int64(One))) != 0 {
			t.Fatalf("%d millionths are written %q", n, text)
		}
	})
}

func TestFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Number(rapid.Int64().Draw(t, "n"))
		step := Number(rapid.Int64Range(1, math.MaxInt64).Draw(t, "step"))
		got, ok := n.Floor(step)
		quotient := new(big.Int).Div(big.NewInt(int64(n)), big.NewInt(int64(step))) // Div is Euclidean: it rounds down
		want := quotient.Mul(quotient, big.NewInt(int64(step)))
		if ok != want.IsInt64() || ok && int64(got) != want.Int64() {
			t.Fatalf("%d.Floor(%d) = %d, %v, want %v", n, step, got, ok, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("-12.5"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		if exact, ok := new(big.Rat).SetString(string(text)); !ok || exact.Cmp(big.NewRat(int64(n), int64(One))) != 0 {
			t.Fatalf("%q is read as %v", text, n)
		}
	})
}
