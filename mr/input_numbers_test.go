package mr

import (
	"context"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestNumbersCoverTheRange reads every split, cut in two at each possible place. It expects
// each number once and in order.
func TestNumbersCoverTheRange(t *testing.T) {
	for _, maps := range []string{"1", "2", "3", "7", "100"} {
		for _, count := range []string{"0", "1", "2", "10", "50"} {
			c, err := conf.FromMap(map[string]string{"rows": count, conf.JobMaps: maps})
			must.Do(t, err)
			in := Numbers("rows")
			splits, err := in.Splits(context.Background(), &InputEnv{conf: c})
			must.Do(t, err)
			next := int64(0)
			for _, s := range splits {
				from := s.Parts[0].Start
				end := from + s.Parts[0].Length
				for cut := from; cut <= end; cut++ {
					n := readNumbers(t, in, withRange(s, Range{Start: Position{Offset: from}, End: Position{Offset: cut}}), from)
					n = readNumbers(t, in, withRange(s, Range{Start: Position{Offset: from, Skip: cut - from}, End: Position{Offset: end}}), n)
					if n != end {
						t.Errorf("%s numbers in %s maps, split at %d: read up to %d, want %d", count, maps, cut, n, end)
					}
				}
				if from != next {
					t.Errorf("%s numbers in %s maps: share begins at %d, want %d", count, maps, from, next)
				}
				next = end
			}
		}
	}
}

func withRange(s Split, r Range) Split {
	s.Range = r
	return s
}

// readNumbers reads a split, expects its numbers to start at next, and returns the number
// after the last.
func readNumbers(t *testing.T, in Input[int64, struct{}], s Split, next int64) int64 {
	t.Helper()
	r, err := in.Open(nil, s)
	must.Do(t, err)
	if got := r.Position().Offset; got != next {
		t.Errorf("position before the first record: %d, want %d", got, next)
	}
	for r.Next() {
		n, _ := r.Record()
		if n != next || r.Position().Offset != n {
			t.Errorf("record %d at %v, want %d", n, r.Position(), next)
		}
		next++
	}
	return next
}

func TestNumbersRefuseBadCounts(t *testing.T) {
	for _, count := range []string{"", "-1", "ten"} {
		c, err := conf.FromMap(map[string]string{"rows": count})
		must.Do(t, err)
		if _, err := Numbers("rows").Splits(context.Background(), &InputEnv{conf: c}); err == nil {
			t.Errorf("count %q: no error", count)
		}
	}
}
