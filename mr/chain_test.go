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

// chain returns a program that counts words and then sorts them by count, with a temporary
// directory between its jobs. An error of first fails the first job.
func chain(t *testing.T, first func(line string) error) *mr.Program {
	type rank = mr.Pair[mr.Desc[int64], string]
	count := mr.New("count", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, offset int64, line string, out countEmitter) error {
		if err := first(line); err != nil {
			return err
		}
		return words.Map(t, offset, []byte(line), out)
	}), mr.Sum[string, int64](), mr.TextOutput[string, int64]())
	order := mr.New("order", mr.KeyValueText(), mr.MapFunc(func(_ *mr.Task, word, n []byte, out mr.Emitter[rank, string]) error {
		out.Emit(rank{First: mr.Desc[int64]{Value: number(string(n))}, Second: string(word)}, string(word))
		return nil
	}), mr.IdentityReducer[rank, string](), mr.TextOutput[rank, string]())
	return &mr.Program{Name: "ranks", Usage: "<in> <out>", Jobs: []mr.Runnable{count, order}, Run: func(ctx context.Context, d *mr.Driver) error {
		if len(d.Args) != 2 {
			return mr.ErrUsage
		}
		tmp := d.TempDir(d.Args[1])
		if again := d.TempDir(d.Args[1]); again == tmp {
			t.Errorf("directory %s given out twice", tmp)
		}
		if err := d.Run(ctx, count, mr.JobRun{In: d.Args[:1], Out: tmp, Set: map[string]string{"mapreduce.job.reduces": "3"}}); err != nil {
			return err
		}
		if got := len(mrtest.Parts(t, tmp)); got != 3 {
			t.Errorf("%d parts between the jobs, want 3", got)
		}
		return d.Run(ctx, order, mr.JobRun{In: []string{tmp}, Out: d.Args[1]})
	}}
}

func noFault(string) error { return nil }

// onlyIn fails the test unless a directory has exactly these entries.
func onlyIn(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := strings.Join(names, " "), strings.Join(want, " "); got != want {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}

func TestChain(t *testing.T) {
	dir := outputDir(t)
	got := mrtest.Command(t, chain(t, noFault), inputDir(t, "a b c\n", "c b c\n"), dir)
	if want := "{{3} c}\tc\n{{2} b}\tb\n{{1} a}\ta\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
	onlyIn(t, filepath.Dir(dir), "out")
}

func TestChainEndsWithItsFirstFailure(t *testing.T) {
	dir := outputDir(t)
	program := chain(t, func(line string) error { return errors.New("first job that fails") })
	got := fails(t, program, mr.ExitFailed, []string{"-D", "mapreduce.map.maxattempts=1", inputDir(t, "a\n"), dir}, "first job that fails")
	if n := strings.Count(got.Stderr, "Running job: "); n != 1 {
		t.Errorf("%d jobs ran, want 1\n%s", n, got.Stderr)
	}
	onlyIn(t, filepath.Dir(dir))
}

func TestWrongArguments(t *testing.T) {
	if got, want := fails(t, chain(t, noFault), mr.ExitUsage, []string{"one"}).Stderr, "Usage: ranks <in> <out>\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, args := range [][]string{nil, {"in"}} {
		if got, want := fails(t, wordCount(), mr.ExitUsage, args).Stderr, "Usage: wordcount <in> [<in>...] <out>\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := mrtest.Exec(t, wordCount(), "-h")
	if got.Code != mr.ExitDone || !strings.HasPrefix(got.Stdout, "Usage: wordcount <in> [<in>...] <out>\n\nGeneric options") || got.Stderr != "" {
		t.Errorf("help: %+v", got)
	}
}

func TestJobMissingFromTheProgram(t *testing.T) {
	program := &mr.Program{Name: "stray", Jobs: []mr.Runnable{wordCount()}, Run: func(ctx context.Context, d *mr.Driver) error {
		return d.Run(ctx, wordCount(), mr.JobRun{In: d.Args[:1], Out: d.Args[1]})
	}}
	fails(t, program, mr.ExitFailed, []string{inputDir(t), outputDir(t)}, "stray: program stray: a job that is not among its Jobs\n")
	program = &mr.Program{Name: "twins", Jobs: []mr.Runnable{wordCount(), wordCount()}}
	fails(t, program, mr.ExitFailed, nil, "program twins: two jobs named wordcount\n")
	program = &mr.Program{Name: "outer", Jobs: []mr.Runnable{program}}
	fails(t, program, mr.ExitFailed, nil, "program outer: a program among its jobs\n")
}

func TestDriverFiles(t *testing.T) {
	dir := outputDir(t)
	job := wordCount()
	program := &mr.Program{Name: "files", Jobs: []mr.Runnable{job}, Run: func(ctx context.Context, d *mr.Driver) error {
		counters, err := d.RunCounted(ctx, job, mr.JobRun{In: d.Args[:1], Out: d.Args[1]})
		if err != nil {
			return err
		}
		wantCounters(t, counters, map[string]int64{"Map input records": 1})
		names, err := d.Outputs(ctx, d.Args[1])
		if err != nil || len(names) != 1 || !strings.HasSuffix(names[0], "out/part-r-00000") {
			t.Errorf("outputs %v, error %v", names, err)
		}
		if err := d.CheckOutput(ctx, nil, d.Args[1]); err == nil {
			t.Error("an output that exists passes the check")
		}
		if err := d.Rename(ctx, names[0], filepath.Join(dir, "all")); err != nil {
			return err
		}
		return d.Remove(ctx, filepath.Join(dir, "_SUCCESS"))
	}}
	if got := mrtest.Exec(t, program, inputDir(t, "a\n"), dir); got.Code != mr.ExitDone {
		t.Fatal(got.Stderr)
	}
	onlyIn(t, dir, "all")
}
