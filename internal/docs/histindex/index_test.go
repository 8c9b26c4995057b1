package histindex_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is a time on 2026-11-23, in ms since the epoch.
var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// files is a directory of histories.
type files struct {
	testing.TB
	storage.FS
	opened atomic.Int64
	refuse atomic.Pointer[string] // opening a file with this in its name fails
}

func newFiles(t testing.TB) *files {
	f := &files{TB: t}
	f.FS = fault.New(mem.New(mem.Options{}), fault.Options{Ask: func(op fault.Op, name string) (time.Duration, error) {
		if op == fault.Open {
			f.opened.Add(1)
			if part := f.refuse.Load(); part != nil && strings.Contains(name, *part) {
				return 0, errors.New("disk is away")
			}
		}
		return 0, nil
	}})
	return f
}

func (f *files) write(name, text string) {
	f.Helper()
	err := storage.WriteFile(context.Background(), f.FS, "/history/"+name, storage.CreateOptions{}, func(w io.Writer) error {
		_, err := w.Write([]byte(text))
		return err
	})
	must.Do(f, err)
}

// history writes the history of a job.
func (f *files) history(dir, id string) {
	f.Helper()
	var b bytes.Buffer
	j := &history.Job{Status: &wire.JobStatus{
		JobId: id, Name: "name of " + id, State: wire.JobState_SUCCEEDED, FinishTime: noon.UnixMilli(), Tasks: []*wire.TaskStatus{{Id: "task" + id[3:] + "_m_000000"}},
	}}
	must.Do(f, history.Encode(&b, j))
	f.write(dir+"/"+id+history.CompressedSuffix, b.String())
}

func (f *files) index(t testing.TB) *histindex.Index {
	x := histindex.New(histindex.Config{Dir: "mem:///history", Patience: time.Minute, Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
		return f.FS, strings.TrimPrefix(name, "mem://"), nil
	}})
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// ids returns the numbers of the jobs of a view, sorted.
func ids(t testing.TB, x *histindex.Index) (string, *histindex.View) {
	t.Helper()
	v, err := x.View(t.Context())
	must.Do(t, err)
	var list []string
	for _, s := range v.Jobs {
		list = append(list, strings.TrimPrefix(s.ID, "job_1_000"))
	}
	slices.Sort(list)
	return strings.Join(list, " "), v
}

// TestIndexFollowsTheDirectory writes files as jobmasters do, and looks at what is listed after each.
func TestIndexFollowsTheDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiles(t)
		x := f.index(t)
		defer x.Close()
		want := func(step, want string, opened int64) {
			t.Helper()
			time.Sleep(11 * time.Second)
			before := f.opened.Load()
			got, v := ids(t, x)
			if got != want || v.Problems != nil || v.Loading || v.At.IsZero() || f.opened.Load()-before != opened {
				t.Errorf("%s: %s, want %s; problems %v, %d files opened, want %d", step, got, want, v.Problems, f.opened.Load()-before, opened)
			}
		}
		time.Sleep(time.Until(noon))
		want("no directory", "", 0)
		f.history("2026-11-23", "job_1_0001")
		f.history("2026-11-22", "job_1_0002")
		f.history(".", "job_1_0003")
		f.write("2026-11-23/job_1_0009.jsonl.zst.123.tmp", "half of a histor")
		f.write("notes.txt", "mine")
		want("histories", "1 2 3", 3)
		want("again", "1 2 3", 0)
		line := history.Summary{ID: "job_1_0004", Name: "indexed", State: "FAILED", OutputBytes: 5, FinishTime: noon.UnixMilli()}
		again := history.Summary{ID: "job_1_0001", Name: "name of job_1_0001", State: "SUCCEEDED", OutputBytes: 7, FinishTime: noon.UnixMilli()}
		f.write("2026-11-23/index-job_1_0001-7.jsonl", string(line.Encode())+"\n"+string(again.Encode())+"\n")
		want("an index", "1 2 3 4", 1)
		if _, v := ids(t, x); v.Find("job_1_0004").Name != "indexed" || v.Find("job_1_0001").OutputBytes != 7 || v.Find("job_1_0005") != nil {
			t.Error("the index is not used")
		}
		must.Do(t, f.Remove(t.Context(), "/history/2026-11-22", true))
		want("a day is gone", "1 3 4", 0)
		if got, _ := ids(t, x); got != "1 3 4" {
			t.Errorf("within the interval: %s", got)
		}
	})
}

// TestDamagedFilesAreNamed serves the other files. A file that is repaired is used again.
func TestDamagedFilesAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFiles(t)
		x := f.index(t)
		defer x.Close()
		time.Sleep(time.Until(noon))
		f.history("2026-11-23", "job_1_0001")
		f.history("2026-11-23", "job_1_0002")
		f.write("2026-11-23/job_1_0003.jsonl.zst", `{"type":"job","version":1,"jo`)
		f.write("2026-11-23/index-job_1_0002-7.jsonl", string(history.Summary{ID: "job_1_0002"}.Encode())+"\nrubbish\n")
		other, _ := f.Open(t.Context(), "/history/2026-11-23/job_1_0001.jsonl.zst")
		text := make([]byte, 4096)
		n, _ := other.ReadAt(text, 0)
		_ = other.Close()
		f.write("2026-11-23/job_1_0004.jsonl.zst", string(text[:n]))
		away := "job_1_0001"
		f.refuse.Store(&away)
		got, v := ids(t, x)
		var problems []string
		for _, p := range v.Problems {
			problems = append(problems, strings.TrimPrefix(p.File, "/history/2026-11-23/")+": "+p.Text)
		}
		all := strings.Join(problems, "\n")
		for _, part := range []string{"index-job_1_0002-7.jsonl: ", "line 2 of the index", "job_1_0003.jsonl.zst: ", "job_1_0004.jsonl.zst: ", `the history of "job_1_0001" is in the file of job_1_0004`, "disk is away"} {
			if !strings.Contains(all, part) {
				t.Errorf("no %q in\n%s", part, all)
			}
		}
		if got != "2" || len(problems) != 4 {
			t.Errorf("jobs %s, problems\n%s", got, all)
		}
		f.refuse.Store(nil)
		must.Do(t, f.Remove(t.Context(), "/history/2026-11-23/job_1_0003.jsonl.zst", false))
		f.history("2026-11-23", "job_1_0003")
		opened := f.opened.Load()
		time.Sleep(11 * time.Second)
		if got, v := ids(t, x); got != "1 2 3" || len(v.Problems) != 2 || f.opened.Load()-opened != 2 {
			t.Errorf("after the repair: %s, %v, %d files opened", got, v.Problems, f.opened.Load()-opened)
		}
	})
}

func TestJob(t *testing.T) {
	f := newFiles(t)
	x := f.index(t)
	f.history("2026-11-23", "job_1_0001")
	f.history(".", "job_1_0002")
	f.write("2026-11-23/job_1_0003.jsonl.zst", "rubbish")
	for id, want := range map[string]error{"job_1_0001": nil, "job_1_0002": nil, "job_1_0003": storage.ErrCorrupt, "job_1_0004": cluster.ErrUnknown, "../x": cluster.ErrUnknown} {
		j, err := x.Job(t.Context(), id)
		if !errors.Is(err, want) || err == nil && (j.Status.JobId != id || len(j.Status.Tasks) != 1) {
			t.Errorf("%s: %v, %v", id, j, err)
		}
	}
	opened := f.opened.Load()
	if _, err := x.Job(t.Context(), "job_1_0001"); err != nil || f.opened.Load() != opened {
		t.Errorf("read again: %v", err)
	}
	if _, err := histindex.New(histindex.Config{}).Job(t.Context(), "job_1_0001"); !errors.Is(err, cluster.ErrUnknown) {
		t.Error(err)
	}
}

// TestManyJobsAreBounded leaves the oldest days out.
func TestManyJobsAreBounded(t *testing.T) {
	f := newFiles(t)
	for day := 1; day <= 5; day++ {
		var b strings.Builder
		for n := range 10 {
			fmt.Fprintf(&b, "%s\n", history.Summary{ID: fmt.Sprintf("job_1_%04d", day*10+n)}.Encode())
		}
		f.write(fmt.Sprintf("2026-11-%02d/index-x.jsonl", day), b.String())
	}
	x := histindex.New(histindex.Config{Dir: "/history", MaxJobs: 25, Patience: time.Minute, Resolve: func(_ context.Context, name string) (storage.FS, string, error) { return f.FS, name, nil }})
	defer x.Close()
	v, err := x.View(t.Context())
	if err != nil || len(v.Jobs) != 30 || !v.LeftOut || v.Find("job_1_0050") == nil || v.Find("job_1_0010") != nil {
		t.Errorf("%d jobs, left out %v, %v", len(v.Jobs), v.LeftOut, err)
	}
}
