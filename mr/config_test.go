package mr_test

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// limits is the typed configuration of a test job.
type limits struct {
	MinLength int
	Tag       string `json:"tag"`
	Words     []string
}

func (l *limits) Validate() error {
	if l.MinLength < 0 {
		return fmt.Errorf("MinLength %d: expected at least 0", l.MinLength)
	}
	return nil
}

func longWords() *mr.Job[string, string, string, string] {
	job := mr.MapOnly("long", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out textEmitter) error {
		c := mr.ConfigOf[limits](t)
		for _, w := range strings.Fields(line) {
			if len(w) >= c.MinLength {
				out.Emit(w, c.Tag+t.Property("test.mark")+strings.Join(c.Words, "+"))
			}
		}
		return nil
	}), mr.TextOutput[string, string]())
	return mr.WithConfig(job, limits{MinLength: 3, Tag: "t", Words: []string{"x", "y"}})
}

func TestTypedConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		config any
		want   string
	}{
		"defaults": {nil, "bbb\tt!x+y\n"},
		"value":    {limits{MinLength: 2, Tag: "u"}, "aa\tu!\nbbb\tu!\n"},
		"pointer":  {&limits{MinLength: 3, Words: []string{"z"}}, "bbb\t!z\n"},
	} {
		got := mrtest.RunCase(t, longWords(), mrtest.Case{Inputs: []string{"a aa bbb\n"}, Config: c.config, Set: map[string]string{"test.mark": "!"}})
		if got.Text() != c.want {
			t.Errorf("%s: %q, want %q", name, got.Text(), c.want)
		}
	}
}

// configured returns a program that runs job with a configuration.
func configured(job mr.Runnable, config any) *mr.Program {
	return &mr.Program{Name: "configured", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, job, mr.JobRun{In: d.Args[:1], Out: d.Args[1], Config: config})
	}}
}

func TestConfigurationIsValidatedBeforeTheJob(t *testing.T) {
	for want, program := range map[string]*mr.Program{
		"configured: configuration: MinLength -1: expected at least 0\n":                                        configured(longWords(), limits{MinLength: -1}),
		"configured: configuration: a struct { Other int } for a job whose configuration is a mr_test.limits\n": configured(longWords(), struct{ Other int }{1}),
		"configured: configuration: a nil pointer; leave it out for the defaults\n":                             configured(longWords(), (*limits)(nil)),
		"configured: configuration: a chan int for a job whose configuration is a mr_test.limits\n":             configured(longWords(), make(chan int)),
		"configured: a configuration for a job that declares none; use WithConfig\n":                            configured(wordCount(), limits{}),
		"job wordcount: configuration: field F of struct { F func() }: JSON has no form for a func()\n":         configured(mr.WithConfig(wordCount(), struct{ F func() }{}), nil),
		"configured: configuration: MinLength -7: expected at least 0\n":                                        configured(mr.WithConfig(wordCount(), limits{MinLength: -7}), nil),
		"mr.ConfigOf[mr_test.limits]: the job's configuration is a <nil>; declare it with WithCon":              configured(unconfigured(), nil),
	} {
		dir := outputDir(t)
		got := fails(t, program, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir}, want)
		if ran := strings.Contains(got.Stderr, "Running job"); ran != strings.HasPrefix(want, "mr.ConfigOf") {
			t.Errorf("a job ran: %v\n%s", ran, got.Stderr)
		}
		gone(t, dir)
	}
}

// unconfigured returns a job that reads a configuration type that it does not declare.
func unconfigured() mr.Runnable {
	return mr.MapOnly("none", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out textEmitter) error {
		out.Emit(line, mr.ConfigOf[limits](t).Tag)
		return nil
	}), mr.TextOutput[string, string]())
}

// filter drops the words that are listed in a side file.
type filter struct{ stop map[string]bool }

func (f *filter) Setup(t *mr.Task) error {
	side, err := t.OpenSide("stop.txt")
	if err != nil {
		return err
	}
	f.stop = make(map[string]bool)
	for lines := bufio.NewScanner(side); lines.Scan(); {
		f.stop[lines.Text()] = true
	}
	return side.Close()
}

func (f *filter) Map(_ *mr.Task, _ int64, line []byte, out countEmitter) error {
	for w := range mr.Words(line) {
		if !f.stop[string(w)] {
			out.Emit(string(w), 1)
		}
	}
	return nil
}

func filtered() *mr.Job[string, int64, string, int64] {
	return mr.New("filter", mr.TextLines(), mr.Mapper[int64, []byte, string, int64](&filter{}), mr.Sum[string, int64](), mr.TextOutput[string, int64]())
}

func TestSideFiles(t *testing.T) {
	const text, want = "the cat the hat\n", "cat\t1\nhat\t1\n"
	got := mrtest.RunCase(t, filtered(), mrtest.Case{Inputs: []string{text}, Side: map[string]string{"stop.txt": "the\n", "other": ""}}).Text()
	if got != want {
		t.Errorf("by name: %q, want %q", got, want)
	}
	file := mrtest.File(t, "long-name", "the\n")
	if got := mrtest.Command(t, filtered(), "-files", file+"#stop.txt", inputDir(t, text), outputDir(t)); got != want {
		t.Errorf("by alias: %q, want %q", got, want)
	}
}

func TestSideFileErrors(t *testing.T) {
	dir := outputDir(t)
	fails(t, filtered(), mr.ExitFailed, []string{"-files", mrtest.File(t, "other", ""), "-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir},
		`cause:   side file "stop.txt": not one of the job's (other); name it with -files`)
	gone(t, dir)
	fails(t, filtered(), mr.ExitFailed, []string{"-files", "/nowhere/stop.txt", "-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir}, "/nowhere/stop.txt: no such file or directory")
	gone(t, dir)
}
