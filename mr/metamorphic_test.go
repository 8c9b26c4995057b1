package mr_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// cutting is a set of options for running a job. The job's output must not depend on it.
type cutting []string

// someCutting draws the split size, the number of spills and merges, compression, and the
// number of parallel tasks.
func someCutting(rng *rand.Rand) cutting {
	codecs := []string{"zstd", "snappy", "lz4", "deflate", "gzip"}
	c := cutting{
		fmt.Sprintf("--workers=%d", 1+rng.IntN(4)),
		fmt.Sprintf("-Dmapreduce.input.fileinputformat.split.maxsize=%d", 20_000+rng.IntN(400_000)),
		fmt.Sprintf("-Dmapreduce.task.io.sort.factor=%d", 2+rng.IntN(9)),
		fmt.Sprintf("-Dhammr.input.combine=%v", rng.IntN(2) == 0),
		fmt.Sprintf("-Dmapreduce.map.sort.spill.percent=%.2f", 0.3+rng.Float64()/2),
	}
	if rng.IntN(3) > 0 {
		c = append(c, "-Dmapreduce.task.io.sort.mb=1")
	}
	if rng.IntN(3) == 0 {
		c = append(c, "-Dhammr.debug.poison=true")
	}
	if rng.IntN(2) == 0 {
		c = append(c, "-Dmapreduce.map.output.compress=true", "-Dmapreduce.map.output.compress.codec="+codecs[rng.IntN(3)])
	}
	return c
}

// longText returns lines of words. Some words are frequent and some are long.
func longText(rng *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		for range 1 + rng.IntN(9) {
			fmt.Fprintf(&b, "w%d%s ", rng.IntN(1+rng.IntN(5000)), strings.Repeat("x", rng.IntN(1+rng.IntN(30))))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// metamorphicJobs returns groups of jobs with equal output. One group counts words with each
// kind of combiner and without. The other lists the places of each word in order.
func metamorphicJobs() map[string][]mr.Runnable {
	places := mr.MapFunc(func(_ *mr.Task, offset int64, line []byte, out countEmitter) error {
		for w := range mr.Words(line) {
			out.Emit(string(w), offset)
		}
		return nil
	})
	listed := mr.New("places", mr.TextLines(), places, mr.IdentityReducer[string, int64](), mr.TextOutput[string, int64]())
	return map[string][]mr.Runnable{
		"counts": {wordCount(), wordCount().Combine(mr.Sum[string, int64]()), wordCount().Combine(&prepared{})},
		"places": {listed},
	}
}

// TestSameBytesHoweverItIsCut runs each job with random options. Its output has the same
// bytes each time.
func TestSameBytesHoweverItIsCut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	in := inputDir(t, longText(rng, 12_000), longText(rng, 300), "", longText(rng, 3_000))
	var spilled int64
	for name, jobs := range metamorphicJobs() {
		var want map[string]string
		for seed := range testlevel.Seeds(4, 30) {
			rng := rand.New(rand.NewPCG(seed, 3))
			dir, job, way := outputDir(t), jobs[rng.IntN(len(jobs))], someCutting(rng)
			got, doc := reportOf(t, job, append(slices.Clone(way), "-Dmapreduce.job.reduces=3", in, dir)...)
			if got.Code != mr.ExitDone {
				t.Fatalf("%s, %v: exit code %d\n%s", name, way, got.Code, got.Stderr)
			}
			spilled += systemCounter(doc.Counters, "Spilled Records") - systemCounter(doc.Counters, "Reduce input records")
			if files := filesIn(t, dir); want == nil {
				want = files
			} else if !maps.Equal(files, want) {
				t.Fatalf("%s, %v: another output than that of the first seed", name, way)
			}
		}
		checkAgainstPlain(t, name, in, want)
	}
	if spilled == 0 {
		t.Error("no map has spilled more than once: the inputs are too small")
	}
}

// checkAgainstPlain compares the number of output records with a simple count of the input.
func checkAgainstPlain(t *testing.T, name, in string, files map[string]string) {
	t.Helper()
	words, distinct := 0, make(map[string]bool)
	for _, content := range filesIn(t, in) {
		for _, w := range strings.Fields(content) {
			words++
			distinct[w] = true
		}
	}
	want := map[string]int{"counts": len(distinct), "places": words}[name]
	got := 0
	for _, content := range files {
		got += strings.Count(content, "\n")
	}
	if got != want || want == 0 {
		t.Errorf("%s: %d records, want %d", name, got, want)
	}
}

// TestSameContentHoweverItIsCompressed writes output with each codec and reads it back.
func TestSameContentHoweverItIsCompressed(t *testing.T) {
	in := inputDir(t, longText(rand.New(rand.NewPCG(1, 1)), 500))
	want := mrtest.Command(t, wordCount(), in, outputDir(t))
	for codec, suffix := range map[string]string{"gzip": ".gz", "zstd": ".zst", "s2": ".s2", "snappy": ".snappy", "lz4": ".lz4", "deflate": ".deflate"} {
		dir := outputDir(t)
		mrtest.Command(t, wordCount(), "-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec="+codec, in, dir)
		if files := filesIn(t, dir); len(files["part-r-00000"+suffix]) == 0 {
			t.Errorf("%s: files %v", codec, slices.Sorted(maps.Keys(files)))
		}
		if got := mrtest.Command(t, identityLines(), dir, outputDir(t)); got != want {
			t.Errorf("%s: read back %d bytes, want %d", codec, len(got), len(want))
		}
	}
}
