package mr

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// armPair has one measurement of each of two arms, taken one right after the other, in the
// same unit.
type armPair struct{ With, Without float64 }

// difference returns how much With exceeds Without, as a fraction of Without.
func (p armPair) difference() float64 { return (p.With - p.Without) / p.Without }

// interval is the median of differences, and the 95 % confidence interval of the true
// median.
type interval struct{ Median, Low, High float64 }

// resamples is the number of bootstrap samples of an interval.
const resamples = 10_000

// intervalOf returns the bootstrap interval of pairs. Equal pairs give equal intervals.
// Without pairs the interval is zero.
func intervalOf(pairs []armPair) interval {
	if len(pairs) == 0 {
		return interval{}
	}
	var differences []float64
	for _, p := range pairs {
		differences = append(differences, p.difference())
	}
	random := rand.New(rand.NewPCG(1, 2))
	medians, draw := make([]float64, resamples), make([]float64, len(differences))
	for i := range medians {
		for k := range draw {
			draw[k] = differences[random.IntN(len(differences))]
		}
		medians[i] = medianOf(draw)
	}
	slices.Sort(medians)
	return interval{Median: medianOf(differences), Low: medians[resamples/40], High: medians[resamples-1-resamples/40]}
}

// medianOf returns the median of at least one number.
func medianOf(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// encodePairs writes a line for each pair, as CSV with a heading; name is the first column.
func encodePairs(w io.Writer, name, unit string, pairs []armPair) error {
	lines := [][]string{{"case", "pair", "with_" + unit, "without_" + unit}}
	for i, p := range pairs {
		lines = append(lines, []string{name, strconv.Itoa(i + 1), strconv.FormatFloat(p.With, 'f', 6, 64), strconv.FormatFloat(p.Without, 'f', 6, 64)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// decodePairs reads the output of encodePairs.
func decodePairs(r io.Reader) ([]armPair, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var pairs []armPair
	for i, line := range lines[1:] {
		if len(line) != 4 {
			return nil, fmt.Errorf("line %d has %d columns; expected case, pair, and a time with and without", i+2, len(line))
		}
		with, err := strconv.ParseFloat(line[2], 64)
		without, wrong := strconv.ParseFloat(line[3], 64)
		if err = errors.Join(err, wrong); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		pairs = append(pairs, armPair{with, without})
	}
	return pairs, nil
}

// TestIntervalOf computes intervals of pairs whose true difference is known.
func TestIntervalOf(t *testing.T) {
	if got := intervalOf(nil); got != (interval{}) {
		t.Errorf("of none: %+v", got)
	}
	if got := intervalOf([]armPair{{110, 100}}); math.Abs(got.Median-.1) > 1e-9 || got.Low != got.High {
		t.Errorf("of one: %+v", got)
	}
	missed := 0
	for seed := range testlevel.Seeds(3, 60) {
		random := rand.New(rand.NewPCG(seed, 7))
		pairs := make([]armPair, 200)
		for i := range pairs {
			without := 100 + 10*random.NormFloat64()
			pairs[i] = armPair{without * (1.02 + .05*random.NormFloat64()), without}
		}
		got := intervalOf(pairs)
		if !(got.Low <= got.Median && got.Median <= got.High) || got.High-got.Low > .03 {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		if .02 < got.Low || got.High < .02 {
			missed++
		}
	}
	if all := testlevel.Choose(3, 60); missed > 1+all/6 {
		t.Errorf("the true difference lies outside of %d intervals of %d", missed, all)
	}
}

func TestEncodePairs(t *testing.T) {
	var b strings.Builder
	if err := encodePairs(&b, "map", "ms", []armPair{{2, 1}}); err != nil || b.String() != "case,pair,with_ms,without_ms\nmap,1,2.000000,1.000000\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestDecodePairs(t *testing.T) {
	want := []armPair{{2, 1}, {3.25, 4.5}}
	var b strings.Builder
	must.Do(t, encodePairs(&b, "map", "ms", want))
	if got, err := decodePairs(strings.NewReader(b.String())); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{"a,b\n1,2\n": "line 2 has 2 columns", "a,b,c,d\nmap,1,2,x\n": `line 2: strconv.ParseFloat: parsing "x"`} {
		if _, err := decodePairs(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
