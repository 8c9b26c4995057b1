package loadgen

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/benchmarks/teragen"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

const rows = 20_000

func generate(t *testing.T) (dir string) {
	dir = filepath.Join(t.TempDir(), "rows")
	mrtest.Command(t, teragen.Program(), fmt.Sprint(rows), dir)
	return dir
}

// TestRatios checks the rows of the output within five standard deviations of the drawing, and that
// all of them are rows of the input.
func TestRatios(t *testing.T) {
	in := generate(t)
	known := make(map[string]bool)
	for row := range slices.Chunk([]byte(strings.Join(mrtest.Parts(t, in), "")), teragen.RowSize) {
		known[string(row)] = true
	}
	for _, tt := range []struct {
		reduces          int
		keepMap, keepRed float64 // percent
		want             float64 // rows, for each of the input
	}{
		{2, 100, 100, 1}, {2, 40, 100, .4}, {2, 40, 250, 1}, {2, 150, 10, .15}, {2, 0, 100, 0}, {2, 100, 0, 0}, {3, .5, 100, .005}, {0, 30, 1, .3},
	} {
		out := filepath.Join(t.TempDir(), "out")
		mrtest.Command(t, Program(), "-r", fmt.Sprint(tt.reduces), "-keepmap", fmt.Sprint(tt.keepMap), "-keepred", fmt.Sprint(tt.keepRed), "-indir", in, "-outdir", out)
		written := slices.Collect(slices.Chunk([]byte(strings.Join(mrtest.Parts(t, out), "")), teragen.RowSize))
		want := rows * tt.want
		if n := float64(len(written)); math.Abs(n-want) > 5*math.Sqrt(want)+.5 || tt.want == 1 && tt.keepMap == 100 && n != rows {
			t.Errorf("%+v: %v rows, want about %v", tt, n, want)
		}
		for _, row := range written {
			if !known[string(row)] {
				t.Fatalf("%+v: %q is no row of the input", tt, row)
			}
		}
	}
}

func TestLoadgenUnderAllVariants(t *testing.T) {
	in := generate(t)
	extest.UnderAllVariants(t, Program(), func(out string) []string {
		return []string{"-keepmap", "70", "-keepred", "130", "-indir", in, "-outdir", out}
	})
}

func TestLoadgenRefuses(t *testing.T) {
	extest.Refused(t, Program(), "")
	extest.Refused(t, Program(), "", "-indir", "a")
	extest.Refused(t, Program(), "option -keepmap: \"-1\" is not a number of percent from 0 to 1e+09", "-keepmap", "-1")
	extest.Refused(t, Program(), "option -keepred: \"NaN\"", "-keepred", "NaN")
	extest.Refused(t, Program(), "option -r: \"-1\"", "-r", "-1")
	extest.Refused(t, Program(), "only rows of 100 bytes", "-outKey", "org.apache.hadoop.io.Text")
}
