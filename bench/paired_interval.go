package bench

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Pair is the measurements of two arms right after one another, in the same unit.
type Pair struct{ With, Without float64 }

// Difference is the extra of With, as a part of Without.
func (p Pair) Difference() float64 { return (p.With - p.Without) / p.Without }

// Interval is the median of differences, and the 95 % confidence interval of the true
// median.
type Interval struct{ Median, Low, High float64 }

// resamples is the number of bootstrap samples of an interval.
const resamples = 10_000

// IntervalOf is the bootstrap interval of pairs. It is the same for the same pairs, and zero
// for none.
func IntervalOf(pairs []Pair) Interval {
	if len(pairs) == 0 {
		return Interval{}
	}
	var differences []float64
	for _, p := range pairs {
		differences = append(differences, p.Difference())
	}
	random := rand.New(rand.NewPCG(1, 2))
	medians, draw := make([]float64, resamples), make([]float64, len(differences))
	for i := range medians {
		for k := range draw {
			draw[k] = differences[random.IntN(len(differences))]
		}
		medians[i] = spreadOf(draw).Median
	}
	slices.Sort(medians)
	return Interval{Median: spreadOf(differences).Median, Low: medians[resamples/40], High: medians[resamples-1-resamples/40]}
}

// WritePairs writes a line for each pair, as CSV with a heading; name is the first column.
func WritePairs(w io.Writer, name, unit string, pairs []Pair) error {
	lines := [][]string{{"case", "pair", "with_" + unit, "without_" + unit}}
	for i, p := range pairs {
		lines = append(lines, []string{name, strconv.Itoa(i + 1), strconv.FormatFloat(p.With, 'f', 6, 64), strconv.FormatFloat(p.Without, 'f', 6, 64)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// ReadPairs reads the output of WritePairs.
func ReadPairs(r io.Reader) ([]Pair, error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var pairs []Pair
	for i, line := range lines[1:] {
		if len(line) != 4 {
			return nil, fmt.Errorf("line %d has %d columns; expected case, pair, and a time with and without", i+2, len(line))
		}
		with, err := strconv.ParseFloat(line[2], 64)
		without, wrong := strconv.ParseFloat(line[3], 64)
		if err = errors.Join(err, wrong); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		pairs = append(pairs, Pair{with, without})
	}
	return pairs, nil
}
