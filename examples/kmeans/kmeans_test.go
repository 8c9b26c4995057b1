package kmeans

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestTwoCrowds finds the centres of two groups of points that are far from each other.
func TestTwoCrowds(t *testing.T) {
	in := mrtest.File(t, "points", "0 0\n0 2\n2,0\n2\t2\n100 100\n100 102\n\n102 100\n102 102\n")
	got := strings.Split(strings.TrimSpace(mrtest.Command(t, Program(), "2", "5", in, t.TempDir()+"/out")), "\n")
	for i, line := range got {
		_, got[i], _ = strings.Cut(line, "\t") // the order of the centres depends on the seeds
	}
	if slices.Sort(got); !slices.Equal(got, []string{"1 1\t4", "101 101\t4"}) {
		t.Errorf("centres %q", got)
	}
}

// TestSameBytesUnderAllVariants compares the output with the result of twin, which holds all
// points in memory.
func TestSameBytesUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	var text strings.Builder
	var points []coordinates
	for range 6000 {
		var p coordinates
		for i := range p {
			p[i] = decimal.Number(random.IntN(5))*100*decimal.One + decimal.Number(random.IntN(40_000_000)-20_000_000)
		}
		points = append(points, p)
		fmt.Fprintf(&text, "%v %v,%v\n", p[0], p[1], p[2])
	}
	in := mrtest.File(t, "points", text.String())
	got := extest.UnderAllVariants(t, Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", "7", "4", in, out}
	})
	extest.Equal(t, got, twin(points, 7, 4))
}

// coordinates is a point of twin.
type coordinates [3]decimal.Number

// hash returns the hash of a point as bytes that sort as it does.
func (p coordinates) hash() []byte {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, append(p[:], 1)) // never fails
	return h.Sum(nil)
}

// twin is the simplest implementation of the iteration.
func twin(points []coordinates, k, rounds int) string {
	sorted := slices.Clone(points)
	slices.SortFunc(sorted, func(a, b coordinates) int { return bytes.Compare(a.hash(), b.hash()) })
	centres, counts := slices.Compact(sorted)[:k], make([]int64, k)
	for range rounds {
		sums := make([][3]int64, k)
		clear(counts)
		for _, p := range points {
			best, at := 0.0, -1
			for i, c := range centres {
				d := 0.0
				for j := range p {
					d += float64(p[j]-c[j]) * float64(p[j]-c[j])
				}
				if at < 0 || d < best {
					best, at = d, i
				}
			}
			counts[at]++
			for j := range p {
				sums[at][j] += int64(p[j])
			}
		}
		next := slices.Clone(centres)
		for i := range next {
			for j := range next[i] {
				if counts[i] > 0 {
					next[i][j] = decimal.Number(floorDiv(sums[i][j], counts[i]))
				}
			}
		}
		centres = next
	}
	var b strings.Builder
	for i, c := range centres {
		fmt.Fprintf(&b, "%d\t%v %v %v\t%d\n", i, c[0], c[1], c[2], counts[i])
	}
	return b.String()
}

func floorDiv(a, b int64) int64 {
	if a < 0 && a%b != 0 {
		return a/b - 1
	}
	return a / b
}

// TestFewerPointsThanCentres requests more centres than there are different points.
func TestFewerPointsThanCentres(t *testing.T) {
	in := mrtest.File(t, "points", "1.5\n1.5\n-2\n")
	got := mrtest.Command(t, Program(), "9", "2", in, t.TempDir()+"/out")
	if lines := strings.Count(got, "\n"); lines != 2 || !strings.Contains(got, "\t1.5\t2\n") || !strings.Contains(got, "\t-2\t1\n") {
		t.Errorf("centres\n%s", got)
	}
}

func TestMalformedPoints(t *testing.T) {
	for text, want := range map[string]string{
		"1 2\n3 x\n":     "expected a decimal number",
		"1 2\n1 2 3\n":   "coordinates among points of",
		"1 2000000000\n": "beyond 1000000000",
	} {
		got := mrtest.Exec(t, Program(), "-D", "mapreduce.map.maxattempts=1", "-D", "mapreduce.reduce.maxattempts=1",
			"2", "1", mrtest.File(t, "points", text), t.TempDir()+"/out")
		if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, want) {
			t.Errorf("%q: exit code %d, want %q in\n%s", text, got.Code, want, got.Stderr)
		}
	}
}

// TestJoin checks that a cloud without points keeps its place until points join it, and that
// a sum that does not fit is refused.
func TestJoin(t *testing.T) {
	of := func(words ...int64) cloud {
		c, _ := binary.Append(nil, binary.LittleEndian, words) // never fails
		return c
	}
	for want, c := range map[string]cloud{
		"-0.000002\t2":   of(-5, 1).join(of(2, 1)),
		"-0.000005\t0":   of(-5, 0).join(of(-5, 0)),
		"-0.000003\t1":   of(-3, 1).join(of(-5, 0)),
		"-0.000001\t1":   of(-5, 0).join(of(-1, 1)),
		"0 -0.000001\t3": of(1, -1, 2).join(of(1, 0, 1)),
	} {
		if got, _ := c.AppendText(nil); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, n := range []int64{math.MaxInt64, math.MinInt64} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "beyond 9223372036854.775807") {
					t.Errorf("sum beyond %d: %s", n, got)
				}
			}()
			of(n, 1).join(of(n, 1))
		}()
	}
}

func TestRefusals(t *testing.T) {
	extest.Refused(t, Program(), "", "2", "3", "in")
	extest.Refused(t, Program(), "at least 1", "0", "3", "in", "out")
	extest.Refused(t, Program(), "at least 1", "2", "some", "in", "out")
}
