package bench

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestIntervalOf looks at pairs of which the true difference is known.
func TestIntervalOf(t *testing.T) {
	if got := IntervalOf(nil); got != (Interval{}) {
		t.Errorf("of none: %+v", got)
	}
	if got := IntervalOf([]Pair{{110, 100}}); math.Abs(got.Median-.1) > 1e-9 || got.Low != got.High {
		t.Errorf("of one: %+v", got)
	}
	missed := 0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 7))
		pairs := make([]Pair, 200)
		for i := range pairs {
			without := 100 + 10*random.NormFloat64()
			pairs[i] = Pair{without * (1.02 + .05*random.NormFloat64()), without}
		}
		got := IntervalOf(pairs)
		if !(got.Low <= got.Median && got.Median <= got.High) || got.High-got.Low > .03 {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		if .02 < got.Low || got.High < .02 {
			missed++
		}
	}
	if missed > 4 {
		t.Errorf("the true difference lies outside of %d intervals of 20", missed)
	}
}

func TestWritePairs(t *testing.T) {
	var b strings.Builder
	if err := WritePairs(&b, "map", "ms", []Pair{{2, 1}}); err != nil || b.String() != "case,pair,with_ms,without_ms\nmap,1,2.000000,1.000000\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestReadPairs(t *testing.T) {
	want := []Pair{{2, 1}, {3.25, 4.5}}
	var b strings.Builder
	if err := WritePairs(&b, "map", "ms", want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadPairs(strings.NewReader(b.String())); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, fault := range map[string]string{"a,b\n1,2\n": "line 2 has 2 columns", "a,b,c,d\nmap,1,2,x\n": `line 2: strconv.ParseFloat: parsing "x"`} {
		if _, err := ReadPairs(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), fault) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
