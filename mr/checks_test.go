package mr_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// sequenceCount is a word count that writes a SequenceFile.
func sequenceCount() *mr.Job[string, int64, string, int64] {
	return wordCount().WithOutput(mr.SequenceOutput(mr.TextString, mr.LongWritable))
}

// refusals are jobs that can be known to fail before they are submitted, by the check that finds
// each.
var refusals = []struct {
	check  string
	job    func() mr.Runnable
	args   func(t *testing.T, in, out string) []string
	code   int
	wanted string // in the message; IN and OUT stand for the two directories
}{
	{"codec of map output", wordCountJob, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.map.output.compress=true", "-D", "mapreduce.map.output.compress.codec=rar", in, out}
	}, mr.ExitUsage, "mapreduce.map.output.compress.codec: "},
	{"codec of output", wordCountJob, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=rar", in, out}
	}, mr.ExitUsage, "mapreduce.output.fileoutputformat.compress.codec: "},
	{"codec of output", func() mr.Runnable { return sequenceCount() }, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=s2", in, out}
	}, mr.ExitUsage, "mapreduce.output.fileoutputformat.compress.codec: SequenceFile with codec s2, which Hadoop cannot read: choose one with a Hadoop class"},
	{"codec of output", namedSequence, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=s2", in, out}
	}, mr.ExitUsage, "SequenceFile with codec s2"},
	{"codec of output", graphSequence, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.output.fileoutputformat.compress=true", "-D", "mapreduce.output.fileoutputformat.compress.codec=s2", in, out}
	}, mr.ExitUsage, "SequenceFile with codec s2"},
	{"name of output", wordCountJob, func(_ *testing.T, in, _ string) []string { return []string{in, ""} },
		mr.ExitUsage, "no output directory, but the job writes files; name a new directory"},
	{"name of output", graphSequence, func(_ *testing.T, in, _ string) []string { return []string{in, ""} },
		mr.ExitUsage, "no output directory"},
	{"names of inputs", wordCountJob, func(_ *testing.T, in, out string) []string { return []string{in, "", out} },
		mr.ExitUsage, "input 2 has an empty name"},
	{"names of side files", wordCountJob, func(t *testing.T, in, out string) []string {
		return []string{"-files", in + "/in-0," + inputDir(t, "x") + "/in-0", in, out}
	}, mr.ExitUsage, "two side files are called in-0; give one of them another name, as in FILE#NAME"},
	{"names of side files", wordCountJob, func(_ *testing.T, in, out string) []string {
		return []string{"-D", "mapreduce.job.cache.files=" + in + "/in-0#", in, out}
	}, mr.ExitUsage, "in-0#: a side file without a name"},
	{"side files", wordCountJob, func(_ *testing.T, in, out string) []string {
		return []string{"-files", in + "/in-0," + in + "/none#it", in, out}
	}, mr.ExitFailed, "side file it: "},
	{"side files", wordCountJob, func(_ *testing.T, in, out string) []string { return []string{"-files", in, in, out} },
		mr.ExitFailed, "is a directory; name a file"},
	{"side files", wordCountJob, func(_ *testing.T, in, out string) []string { return []string{"-files", "/dev/null#side", in, out} },
		mr.ExitFailed, "/dev/null is a device; a job reads only regular files"},
	{"new output", wordCountJob, func(_ *testing.T, in, _ string) []string { return []string{in, filepath.Dir(in)} },
		mr.ExitFailed, "already exists"},
	{"output apart from inputs", wordCountJob, func(_ *testing.T, in, _ string) []string { return []string{in, in + "/deep/out"} },
		mr.ExitFailed, "output directory file:IN/deep/out lies inside the input file:IN; choose another one"},
	{"output apart from inputs", wordCountJob, func(t *testing.T, in, _ string) []string { return []string{in, linkTo(t, in) + "/out"} },
		mr.ExitFailed, "lies inside the input file:IN"},
	{"output apart from inputs", wordCountJob, func(t *testing.T, in, _ string) []string { return []string{linkTo(t, in), in + "/out"} },
		mr.ExitFailed, "output directory file:IN/out lies inside the input"},
	{"output apart from inputs", wordCountJob, func(_ *testing.T, in, _ string) []string { return []string{filepath.Dir(in) + "/*", in + "/out"} },
		mr.ExitFailed, "output directory file:IN/out lies inside the input file:IN"},
}

func wordCountJob() mr.Runnable { return wordCount() }

// namedSequence has a named output of SequenceFiles.
func namedSequence() mr.Runnable {
	job := wordCount()
	mr.AddOutput(job, "extra", mr.SequenceOutput(mr.TextString, mr.LongWritable))
	return job
}

// graphSequence is a graph whose only output are SequenceFiles.
func graphSequence() mr.Runnable {
	return mr.Define("graph", none{}, func(g *mr.Graph, _ none) {
		mr.WriteAs(mr.Read(g, "read", lineFile, tokens), "x", mr.SequenceOutput(mr.TextString, mr.LongWritable))
	})
}

// linkTo returns a symbolic link to a directory.
func linkTo(t *testing.T, dir string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(dir, link))
	return link
}

// TestRefusedSubmissions runs a job for each row and checks that nothing of it ran.
func TestRefusedSubmissions(t *testing.T) {
	untested := mr.CheckNames()
	for _, c := range refusals {
		in, out := inputDir(t, "a\n"), outputDir(t)
		wanted := strings.NewReplacer("IN", in, "OUT", out).Replace(c.wanted)
		got := mrtest.Exec(t, c.job(), c.args(t, in, out)...)
		if got.Code != c.code || !strings.Contains(got.Stderr, wanted) || strings.Contains(got.Stderr, "Running job") {
			t.Errorf("%s: exit code %d, want %d and %q\n%s", c.check, got.Code, c.code, wanted, got.Stderr)
		}
		gone(t, out)
		onlyIn(t, in, "in-0")
		untested = slices.DeleteFunc(untested, func(name string) bool { return name == c.check })
	}
	if len(untested) > 0 {
		t.Errorf("no test of the checks %q", untested)
	}
}

// TestRefusalsAreReportedTogether checks that all errors of a command line are reported at once.
func TestRefusalsAreReportedTogether(t *testing.T) {
	fails(t, wordCount(), mr.ExitUsage, []string{"-files", "/a/x,/b/x", "", ""}, "no output directory", "input 1 has an empty name", "two side files are called x")
}

// TestOutputBesideInputs accepts output directories that only look as if they were inside an input.
func TestOutputBesideInputs(t *testing.T) {
	in := inputDir(t, "a\n", "b\n")
	mrtest.Command(t, wordCount(), in, in+"-out")
	mrtest.Command(t, wordCount(), filepath.Join(in, "in-*"), in+"/out") // files, which cannot contain it
}

// TestChainChecksItsOutputFirst checks the output of a program's last job before the first runs.
func TestChainChecksItsOutputFirst(t *testing.T) {
	program := &mr.Program{Name: "chain", Jobs: []mr.Runnable{wordCount()}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.CheckOutput(ctx, d.Args[:1], d.Args[1])
	}}
	in := inputDir(t, "a\n")
	fails(t, program, mr.ExitUsage, []string{in, ""}, "no output directory")
	fails(t, program, mr.ExitFailed, []string{in, linkTo(t, in) + "/out"}, "lies inside the input")
}
