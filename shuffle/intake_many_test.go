package shuffle

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// sizedSources returns sources of maps, of which the i-th has sizes[i] records.
func sizedSources(t testing.TB, sizes ...int) (sources []Source) {
	t.Helper()
	written := make(map[int]Source) // by size; sources of one size share a file
	for i, n := range sizes {
		if _, known := written[n]; !known {
			var records []pair
			for r := range n {
				records = append(records, pair{fmt.Sprintf("key %03d", r), "value"})
			}
			o := testOptions(t, 1)
			x, _ := collectSorted(t, o, records)
			written[n] = x.Sources(o.FS, 0, Ordinal{})[0]
		}
		s := written[n]
		s.Ordinal = Ordinal{Input: int32(i)}
		sources = append(sources, s)
	}
	return sources
}

// TestManyFilesAreMerged merges the smallest sources until few are left. Each merge takes the
// smallest, so the others stay as they are, in order of their sizes.
func TestManyFilesAreMerged(t *testing.T) {
	var sizes []int
	total := 0
	for i := range 100 {
		sizes = append(sizes, 1+i*37%60)
		total += sizes[i]
	}
	in, err := NewIntake(intakeOptions(t))
	must.Do(t, err)
	defer in.Close()
	sources := slices.SortedFunc(slices.Values(sizedSources(t, sizes...)), compareSizes)
	for len(sources) > 5 {
		var merged int64
		for _, s := range sources[:3] {
			merged += s.Run.Records
		}
		others := slices.Clone(sources[3:])
		if sources, err = in.mergeSmallest(context.Background(), sources, 3); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(sources, compareSizes) {
			t.Fatalf("%d sources are not in order of their sizes", len(sources))
		}
		place := slices.IndexFunc(sources, func(s Source) bool {
			return !slices.ContainsFunc(others, func(o Source) bool { return o.Path == s.Path && o.Ordinal == s.Ordinal })
		})
		if place < 0 || sources[place].Run.Records != merged || len(sources) != len(others)+1 {
			t.Fatalf("%d sources after a merge of 3 into one of %d records with %d others", len(sources), merged, len(others))
		}
	}
	left := int64(0)
	for _, s := range sources {
		left += s.Run.Records
	}
	if left != int64(total) {
		t.Errorf("%d records of %d are left", left, total)
	}
}

// BenchmarkMergeOfManyFiles is the final merge of a reduce whose 20,000 maps ran on its machine.
func BenchmarkMergeOfManyFiles(b *testing.B) {
	sources := sizedSources(b, slices.Repeat([]int{1}, 20000)...)
	for b.Loop() {
		in, err := NewIntake(intakeOptions(b))
		must.Do(b, err)
		for _, s := range sources {
			must.Do(b, in.AddLocal(s))
		}
		finalMerge(b, in)
		must.Do(b, in.Close())
	}
}
