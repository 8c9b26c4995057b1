package shuffle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestIntakeOfOneKeyLargerThanMemory checks that the values of a group are streamed, even if
// together they exceed the memory.
func TestIntakeOfOneKeyLargerThanMemory(t *testing.T) {
	for name, size := range map[string]int{"short": 50, "long": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			var records []pair
			for i := range 6<<20/size + 1 {
				records = append(records, pair{"the key", fmt.Sprint(i, strings.Repeat("v", size))})
			}
			o := testOptions(t, 1)
			o.Memory, o.MaxRuns = 1<<20, 1000
			x, _ := collectSorted(t, o, records)
			sources := x.Sources(o.FS, 0, Source{}.Ordinal)
			slices.Reverse(sources)
			io := intakeOptions(t)
			io.Memory, io.Factor = 256<<10, 4
			in, err := NewIntake(io)
			must.Do(t, err)
			for i, s := range sources {
				must.Do(t, addOne(in, s, i%2 == 0))
			}
			g := finalMerge(t, in).Groups()
			if !g.NextGroup() {
				t.Fatal(g.Err())
			}
			for i := 0; g.NextValue(); i++ {
				if string(g.Value()) != records[i].value {
					t.Fatalf("value %d is %.20q instead of %.20q", i, g.Value(), records[i].value)
				}
				records[i].value = ""
			}
			if g.NextGroup() || g.Err() != nil || records[len(records)-1].value != "" {
				t.Fatalf("values are missing or too many, error %v", g.Err())
			}
			must.Do(t, in.Close())
		})
	}
}
