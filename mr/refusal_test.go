package mr_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestNoReduces(t *testing.T) {
	dir := outputDir(t)
	mrtest.Command(t, wordCount(), "-D", "mapreduce.job.reduces=0", inputDir(t, "b a b\n"), dir)
	wantFiles(t, dir, map[string]string{"part-m-00000": "b\t1\na\t1\nb\t1\n"})
	dir = outputDir(t)
	mrtest.Command(t, wordCount().Combine(mr.Sum[string, int64]()).Reduces(0), inputDir(t, "b a b\n"), dir)
	wantFiles(t, dir, map[string]string{"part-m-00000": "b\t1\na\t1\nb\t1\n"})
}

func TestNoReducesWhereTheReducerIsNeeded(t *testing.T) {
	dir := outputDir(t)
	got := fails(t, secondarySort(), mr.ExitUsage, []string{"-D", "mapreduce.job.reduces=0", inputDir(t, "a 1\n"), dir},
		"mapreduce.job.reduces=0: job secondary needs its reducer, since it maps to (keys.Pair[string,int64], int64) and writes (string, string); make it with mr.MapOnly to leave it out")
	if strings.Contains(got.Stderr, "Running job") {
		t.Errorf("a job ran\n%s", got.Stderr)
	}
	gone(t, dir)
}

// TestRefusedProperties checks that invalid values are refused before the job runs.
func TestRefusedProperties(t *testing.T) {
	for definition, want := range map[string]string{
		"mapreduce.job.reduces=-1":                                        "mapreduce.job.reduces=-1: ",
		"mapreduce.job.reduces=many":                                      "mapreduce.job.reduces=many: ",
		"mapreduce.task.io.sort.mb=0":                                     "mapreduce.task.io.sort.mb=0: ",
		"mapreduce.map.sort.spill.percent=half":                           "mapreduce.map.sort.spill.percent=half: ",
		"mapreduce.output.fileoutputformat.compress=maybe":                "mapreduce.output.fileoutputformat.compress=maybe: ",
		"mapreduce.task.timeout=soon":                                     "mapreduce.task.timeout=soon: ",
		"hammr.input.combined=true":                                       "hammr.input.combined=true: unknown property; did you mean hammr.input.combine?",
		"mapreduce.input.fileinputformat.split.maxsize=1parsec":           "mapreduce.input.fileinputformat.split.maxsize=1parsec: ",
		"mapreduce.shuffle.ssl.enabled=true":                              "mapreduce.shuffle.ssl.enabled=true: not supported: map output travels unencrypted",
		"mapreduce.client.output.filter=ALL":                              "mapreduce.client.output.filter=ALL: not supported",
		"mapreduce.input.keyvaluelinerecordreader.key.value.separator=::": "mapreduce.input.keyvaluelinerecordreader.key.value.separator=::: expected one byte; the default is \"\\t\"",
		"novalue": "option -D novalue: write it as property=value",
	} {
		dir := outputDir(t)
		got := fails(t, wordCount(), mr.ExitUsage, []string{"-D", definition, inputDir(t, "a\n"), dir}, want, "Usage: wordcount <in>")
		if strings.Contains(got.Stderr, "Running job") {
			t.Errorf("%s: a job ran\n%s", definition, got.Stderr)
		}
		gone(t, dir)
	}
}

// TestUnknownOptionsAreRefused checks options with two hyphens. If they were read as paths,
// an option would be reported as missing input or would name the output.
func TestUnknownOptionsAreRefused(t *testing.T) {
	dir := outputDir(t)
	in := inputDir(t, "a\n")
	fails(t, wordCount(), mr.ExitUsage, []string{in, dir, "--reduces=3"}, "option --reduces: unknown", "Usage: wordcount <in>")
	fails(t, wordCount(), mr.ExitUsage, []string{"--local", in, dir}, "option --local: unknown")
	gone(t, dir)
	fails(t, wordCount(), mr.ExitFailed, []string{"--", "--local", dir}, "--local")
	gone(t, dir)
}

// TestOptionsBehindArguments refuses generic options where Hadoop takes them for arguments: -D would
// be an input, and its property the output.
func TestOptionsBehindArguments(t *testing.T) {
	in, dir := inputDir(t, "a\n"), outputDir(t)
	for _, options := range [][]string{{"-D", "a=b"}, {"-Da=b"}, {"-conf", "x.xml"}, {"-fs", "file:///"}, {"-files", in + "/in-0"}} {
		fails(t, wordCount(), mr.ExitUsage, append([]string{in, dir}, options...), "option "+options[0]+" behind the argument "+dir+": generic options come before the arguments")
		gone(t, dir)
	}
	fails(t, wordCount(), mr.ExitFailed, []string{in, "--", "-D", dir}, "Input path does not exist")
}

// TestLoopOfLinks names a link among the inputs that leads back to a directory above it.
func TestLoopOfLinks(t *testing.T) {
	in, dir := inputDir(t, "a\n"), outputDir(t)
	loop := filepath.Join(in, "sub", "loop")
	must.Do(t, errors.Join(os.Mkdir(filepath.Dir(loop), 0o755), os.Symlink("..", loop)))
	fails(t, wordCount(), mr.ExitFailed, []string{"-D", "mapreduce.input.fileinputformat.input.dir.recursive=true", in, dir},
		"file:"+loop+" is a link to a directory that contains it")
	gone(t, dir)
}

// TestPropertiesOfTheUser accepts unknown property names outside Hammr's own. It prints a
// warning if a name looks misspelled.
func TestPropertiesOfTheUser(t *testing.T) {
	dir := outputDir(t)
	got := mrtest.Exec(t, wordCount(), "-D", "my.own=1", "-D", "mapreduce.job.reducers=2", inputDir(t, "a\n"), dir)
	const want = "mapreduce.job.reducers is not a property that is read here; did you mean mapreduce.job.reduces?"
	if got.Code != mr.ExitDone || !strings.Contains(got.Stderr, want) || strings.Contains(got.Stderr, "my.own") {
		t.Errorf("exit code %d, want 0 and %q\n%s", got.Code, want, got.Stderr)
	}
	wantFiles(t, dir, map[string]string{"part-r-00000": "a\t1\n"})
}

func TestMissingInput(t *testing.T) {
	in, dir := filepath.Join(t.TempDir(), "none"), outputDir(t)
	got := fails(t, wordCount(), mr.ExitFailed, []string{in, dir}, "Input path does not exist: file:"+in)
	if strings.Contains(got.Stderr, "Running job") {
		t.Errorf("a job ran\n%s", got.Stderr)
	}
	fails(t, wordCount(), mr.ExitFailed, []string{in + "*", dir}, "Input Pattern file:"+in+"* matches 0 files")
	gone(t, dir)
}

func TestOutputThatExists(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	must.Do(t, os.WriteFile(kept, []byte("mine"), 0o644))
	for _, out := range []string{dir, kept} {
		fails(t, wordCount(), mr.ExitFailed, []string{inputDir(t, "a\n"), out}, "wordcount: Output directory file:", out+" already exists")
	}
	onlyIn(t, dir, "kept")
	if got := filesIn(t, dir)["kept"]; got != "mine" {
		t.Errorf("the file holds %q", got)
	}
}

func TestJobsWithErrorsAreRefused(t *testing.T) {
	var none mr.Input[int64, []byte]
	text := mr.TextOutput[string, int64]()
	for want, job := range map[string]mr.Runnable{
		"job : a job without a name":                      mr.New("", mr.TextLines(), words, mr.Sum[string, int64](), text),
		"job x: an input that is nil":                     mr.New("x", none, words, mr.Sum[string, int64](), text),
		"job x: a mapper that is nil":                     mr.New[int64, []byte, string, int64]("x", mr.TextLines(), nil, mr.Sum[string, int64](), text),
		"job x: no reducer: use MapOnly for a job":        mr.New[int64, []byte, string, int64]("x", mr.TextLines(), words, nil, text),
		"job x: no output: use NullOutput for a job that": mr.New("x", mr.TextLines(), words, mr.Sum[string, int64](), nil),
		"job x: a combiner in a job without reduce phase": mr.MapOnly("x", mr.TextLines(), words, text).Combine(mr.Sum[string, int64]()),
	} {
		fails(t, job, mr.ExitFailed, []string{inputDir(t), outputDir(t)}, "refusal_test.go:", want)
	}
}

// TestJobWithoutOutput runs a job without an output directory.
func TestJobWithoutOutput(t *testing.T) {
	job := mr.New("null", mr.TextLines(), words, mr.Sum[string, int64](), mr.NullOutput[string, int64]())
	program := &mr.Program{Name: "null", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		counters, err := d.RunCounted(ctx, job, mr.JobRun{In: d.Args})
		wantCounters(t, counters, map[string]int64{"Reduce output records": 2})
		return err
	}}
	in := inputDir(t, "a b a\n")
	if got := mrtest.Exec(t, program, in); got.Code != mr.ExitDone {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
	onlyIn(t, in, "in-0")
}
