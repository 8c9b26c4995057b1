package mr_test

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// reading is one line "name number" of a test's input.
type reading struct {
	name   string
	number int64
}

func someReadings(n int) (text string, all []reading) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range n {
		r := reading{fmt.Sprintf("s%d", rng.IntN(9)), rng.Int64N(1000) - 500}
		all = append(all, r)
		fmt.Fprintf(&b, "%s %d\n", r.name, r.number)
	}
	return b.String(), all
}

func parseReading(line string) (reading, error) {
	name, number, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	return reading{name, n}, err
}

func secondarySort() *mr.Job[mr.Pair[string, int64], int64, string, string] {
	type key = mr.Pair[string, int64]
	return mr.New("secondary", mr.TextStrings(),
		mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[key, int64]) error {
			r, err := parseReading(line)
			if err == nil {
				out.Emit(key{First: r.name, Second: r.number}, r.number)
			}
			return err
		}),
		mr.ReduceFunc(func(_ *mr.Task, first key, values iter.Seq[int64], out textEmitter) error {
			out.Emit(fmt.Sprintf("%s from %d", first.First, first.Second), joined(values))
			return nil
		}),
		mr.TextOutput[string, string]()).GroupFirst()
}

func TestSecondarySort(t *testing.T) {
	text, all := someReadings(500)
	slices.SortStableFunc(all, func(a, b reading) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.number, b.number))
	})
	want := make(map[string]string)
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].name == all[i].name {
			end++
		}
		var numbers []int64
		for _, r := range all[i:end] {
			numbers = append(numbers, r.number)
		}
		want[fmt.Sprintf("%s from %d", all[i].name, all[i].number)] = joined(slices.Values(numbers))
		i = end
	}
	half := strings.Index(text[len(text)/2:], "\n") + len(text)/2 + 1
	for _, reduces := range []string{"1", "3"} {
		out := mrtest.RunCase(t, secondarySort(), mrtest.Case{
			Inputs: []string{text[:half], text[half:]},
			Set:    map[string]string{"mapreduce.job.reduces": reduces, "mapreduce.input.fileinputformat.split.maxsize": "700"},
		})
		if got := out.Map(); len(got) != len(want) || len(out.Records()) != len(want) {
			t.Errorf("%s reduces: %d groups, want %d", reduces, len(out.Records()), len(want))
		} else {
			for k, v := range want {
				if got[k] != v {
					t.Errorf("%s reduces: group %s: %s, want %s", reduces, k, got[k], v)
				}
			}
		}
	}
}

// TestTotalOrderKeepsGroups orders a secondary sort by ranges: each group is in one output file,
// and the files are in order.
func TestTotalOrderKeepsGroups(t *testing.T) {
	text, all := someReadings(500)
	want := make(map[string]bool)
	for _, r := range all {
		want[r.name] = true
	}
	dir := outputDir(t)
	mrtest.Command(t, secondarySort().TotalOrder().Reduces(3), inputDir(t, text), dir)
	var got []string
	for i, part := range mrtest.Parts(t, dir) {
		if part == "" {
			t.Errorf("file %d is empty", i)
		}
		for line := range strings.Lines(part) {
			got = append(got, strings.Fields(line)[0])
		}
	}
	if sorted := slices.Sorted(maps.Keys(want)); !slices.Equal(got, sorted) {
		t.Errorf("groups %q, want %q", got, sorted)
	}
}

func TestGroupFirstNeedsComponents(t *testing.T) {
	fails(t, wordCount().GroupFirst(), mr.ExitFailed, []string{inputDir(t), outputDir(t)}, "GroupFirst with a key that has no components", "helper_test.go:")
}

// TestValuesArriveInOrderOfInput uses two inputs with their own mappers. The values of a key
// are ordered by input, then by position, then by order of Emit.
func TestValuesArriveInOrderOfInput(t *testing.T) {
	tagged := func(tag string) mr.Mapper[int64, string, string, string] {
		return mr.MapFunc(func(_ *mr.Task, offset int64, line string, out textEmitter) error {
			for i, w := range strings.Fields(line) {
				out.Emit(w, fmt.Sprintf("%s%d.%d", tag, offset, i))
			}
			return nil
		})
	}
	job := mr.New("two", mr.TextStrings(), tagged("a"), lists, mr.TextOutput[string, string]())
	mr.AddInput(job, mr.TextStrings(), tagged("b"))
	got := mrtest.RunCase(t, job, mrtest.Case{
		Inputs: []string{"x y\ny x x\nx\n", "x x\n", "y\nx y\n"},
		Set: map[string]string{
			"mapreduce.job.reduces": "2", "mapreduce.input.fileinputformat.split.maxsize": "4", "hammr.input.combine": "false",
		},
	}).Map()
	want := map[string]string{
		"x": "a0.0,a4.1,a4.2,a10.0,b0.0,b0.1,b2.0",
		"y": "a0.1,a4.0,b0.0,b2.1",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %s, want %s", k, got[k], v)
		}
	}
}

func TestPartitionFunction(t *testing.T) {
	byLength := wordCount().Partition(func(key string, n int) int { return len(key) % n })
	dir := outputDir(t)
	mrtest.Command(t, byLength, "-D", "mapreduce.job.reduces=3", inputDir(t, "aa b ccc dd e ffff\n"), dir)
	wantFiles(t, dir, map[string]string{
		"part-r-00000": "ccc\t1\n", "part-r-00001": "b\t1\ne\t1\nffff\t1\n", "part-r-00002": "aa\t1\ndd\t1\n",
	})
}

func TestPartitionOutOfRange(t *testing.T) {
	for name, job := range map[string]*mr.Job[string, int64, string, int64]{
		"sorting": wordCount(), "folding": wordCount().Combine(mr.Sum[string, int64]()),
	} {
		for _, p := range []int{-1, 3} {
			dir := outputDir(t)
			job.Partition(func(string, int) int { return p })
			fails(t, job, mr.ExitFailed, []string{"-D", "mapreduce.job.reduces=3", "-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir},
				fmt.Sprintf("partition function: %d for key a, not within 0 to 2", p))
			gone(t, dir)
			if t.Failed() {
				t.Fatal(name)
			}
		}
	}
}

// keysOf returns a job that outputs the keys in the order of the reduce.
func keysOf[K any](parse func(word string) K) *mr.Job[K, struct{}, K, struct{}] {
	return mr.New("keys", mr.TextStrings(),
		mr.MapFunc(func(_ *mr.Task, _ int64, line string, out mr.Emitter[K, struct{}]) error {
			for _, w := range strings.Fields(line) {
				out.Emit(parse(w), struct{}{})
			}
			return nil
		}),
		mr.ReduceFunc(func(_ *mr.Task, key K, _ iter.Seq[struct{}], out mr.Emitter[K, struct{}]) error {
			out.Emit(key, struct{}{})
			return nil
		}),
		mr.TextOutput[K, struct{}]())
}

// wantKeys compares the text forms of the keys, in order.
func wantKeys[K any](t *testing.T, job *mr.Job[K, struct{}, K, struct{}], input, want string) {
	t.Helper()
	var got []string
	for _, r := range mrtest.Run(t, job, input).Records() {
		got = append(got, fmt.Sprint(r.Key))
	}
	if g := strings.Join(got, " "); g != want {
		t.Errorf("keys %s, want %s", g, want)
	}
}

func number(w string) int64 {
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func TestOrderOfKeys(t *testing.T) {
	const numbers = "5 -3 100 0 -3 7 -200"
	wantKeys(t, keysOf(number), numbers, "-200 -3 0 5 7 100")
	wantKeys(t, keysOf(func(w string) mr.Desc[int64] { return mr.Desc[int64]{Value: number(w)} }), numbers, "{100} {7} {5} {0} {-3} {-200}")
	wantKeys(t, keysOf(func(w string) mr.Pair[int64, string] {
		return mr.Pair[int64, string]{First: number(w) / 10, Second: w}
	}), "12 5 11 -15 102", "{-1 -15} {0 5} {1 11} {1 12} {10 102}")
	wantKeys(t, keysOf(func(w string) mr.Triple[mr.Desc[string], bool, uint8] {
		return mr.Triple[mr.Desc[string], bool, uint8]{First: mr.Desc[string]{Value: w[:1]}, Second: len(w) > 2, Third: uint8(len(w))}
	}), "aaa b a bbbb aaaa ba", "{{b} false 1} {{b} false 2} {{b} true 4} {{a} false 1} {{a} true 3} {{a} true 4}")
	wantKeys(t, keysOf(func(w string) float64 {
		f, _ := strconv.ParseFloat(w, 64)
		return f
	}), "1.5 -2 NaN 0 -Inf 1e300 NaN", "-Inf -2 0 1.5 1e+300 NaN")
}
