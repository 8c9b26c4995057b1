package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
)

var testJob = cluster.JobID{Cluster: "1", Number: 1}

// workOn returns work for the test's job on fsys.
func workOn(fsys storage.FS, properties map[string]string) *jobWork {
	m := &Master{cfg: Config{Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
		return fsys, strings.TrimPrefix(name, "mem://"), nil
	}}}
	c, err := conf.FromMap(properties)
	if err != nil {
		panic(err)
	}
	return &jobWork{m: m, job: testJob, spec: &wire.JobSpec{OutputDir: "mem:///out"}, conf: c}
}

// staged returns a file system with the pieces of a job that can be committed.
func staged(t *testing.T, opts ...mem.Options) (*mem.FS, []finalFile) {
	t.Helper()
	fsys := mem.New(append(opts, mem.Options{})[0])
	must.Do(t, workOn(fsys, nil).makeOutput(t.Context()))
	piece := func(name, text string) cluster.Piece {
		path := "/out/_temporary/job_1_0001/" + name
		put(t, fsys, path, text)
		return cluster.Piece{Output: "part", Path: "mem://" + path, Length: int64(len(text))}
	}
	put(t, fsys, "/out/_temporary/job_1_0001/loser", "of no use")
	return fsys, []finalFile{
		{"part-r-00000", []cluster.Piece{piece("a", "one "), piece("b", ""), piece("c", "two")}},
		{"part-r-00001", []cluster.Piece{piece("d", "three")}},
		{"side/name-r-00001.gz", []cluster.Piece{piece("e", "")}},
	}
}

func put(t *testing.T, fsys storage.FS, path, text string) {
	t.Helper()
	w, err := fsys.Create(t.Context(), path, storage.CreateOptions{})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	must.Do(t, err)
}

// tree lists the files below dir.
func tree(t *testing.T, fsys storage.FS, dir string) string {
	t.Helper()
	var b strings.Builder
	list, err := fsys.List(context.Background(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, info := range list {
		if info.IsDir {
			b.WriteString(tree(t, fsys, info.Path))
			continue
		}
		f, err := fsys.Open(context.Background(), info.Path)
		must.Do(t, err)
		data, err := io.ReadAll(f)
		f.Close()
		must.Do(t, err)
		fmt.Fprintf(&b, "%s=%q ", info.Path, data)
	}
	return b.String()
}

const committed = `/out/_SUCCESS="" /out/part-r-00000="one two" /out/part-r-00001="three" /out/side/name-r-00001.gz="" `

func TestCommitGivesFilesTheirNames(t *testing.T) {
	fsys, files := staged(t)
	w := workOn(fsys, nil)
	w.files = files
	for range 2 {
		must.Do(t, w.commit(t.Context()))
		if got := tree(t, fsys, "/out"); got != committed {
			t.Errorf("output is %s", got)
		}
	}
}

func TestCommitWithoutSuccessFile(t *testing.T) {
	fsys, files := staged(t)
	w := workOn(fsys, map[string]string{"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"})
	w.files = files
	must.Do(t, w.commit(t.Context()))
	if got := tree(t, fsys, "/out"); "/out/_SUCCESS=\"\" "+got != committed {
		t.Errorf("output is %s", got)
	}
}

// TestCommitCompletesAfterACrashAnywhere interrupts each call of a commit in turn and lets
// another master finish the commit. It checks that the success file never exists too early.
func TestCommitCompletesAfterACrashAnywhere(t *testing.T) {
	t.Run("concat", func(t *testing.T) { crashCommitAnywhere(t, mem.Options{}) })
	t.Run("copy", func(t *testing.T) { crashCommitAnywhere(t, mem.Options{NoConcat: true}) })
}

func crashCommitAnywhere(t *testing.T, opts mem.Options) {
	inner, files := staged(t, opts)
	probe := fault.New(inner, fault.Options{})
	w := workOn(probe, nil)
	w.files = files
	must.Do(t, w.commit(t.Context()))
	for n := 1; n <= probe.Calls(); n++ {
		inner, files := staged(t, opts)
		first := workOn(fault.New(inner, fault.Options{}, fault.Rule{Nth: n, Crash: true}), nil)
		first.files = files
		firstErr := first.commit(t.Context())
		if got := tree(t, inner, "/out"); strings.Contains(got, "/out/_SUCCESS") && got != committed {
			t.Fatalf("call %d: success beside %s", n, got)
		}
		second := workOn(inner, nil)
		second.files = files
		if err := second.commit(t.Context()); err != nil {
			t.Fatalf("call %d: second commit: %v (the first: %v)", n, err, firstErr)
		}
		if got := tree(t, inner, "/out"); got != committed {
			t.Fatalf("call %d: output is %s", n, got)
		}
	}
}

func TestTwoMastersCommitAtOnce(t *testing.T) {
	for range 50 {
		inner, files := staged(t)
		var both sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			w := workOn(inner, nil)
			w.files = files
			both.Go(func() { errs[i] = w.commit(t.Context()) })
		}
		both.Wait()
		must.Do(t, errors.Join(errs...))
		if got := tree(t, inner, "/out"); got != committed {
			t.Fatalf("output is %s", got)
		}
	}
}

func TestCommitErrorNamesTheMissingPiece(t *testing.T) {
	fsys, files := staged(t)
	must.Do(t, fsys.Remove(t.Context(), "/out/_temporary/job_1_0001/c", false))
	w := workOn(fsys, nil)
	w.files = files
	err := w.commit(t.Context())
	if err == nil || !strings.Contains(err.Error(), "part-r-00000") || !strings.Contains(err.Error(), "job_1_0001/c") {
		t.Errorf("commit: %v", err)
	}
	if got := tree(t, fsys, "/out"); strings.Contains(got, "_SUCCESS") {
		t.Errorf("success beside %s", got)
	}
}

// TestLateCommitLeavesNothing suspends a master in its commit while another master ends
// the job and removes its output.
func TestLateCommitLeavesNothing(t *testing.T) {
	fsys, files := staged(t)
	late := workOn(fsys, nil)
	must.Do(t, late.removeTemporary(t.Context()))
	for _, late.files = range [][]finalFile{files, nil} {
		if err := late.commit(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the commit of %d files: %v", len(late.files), err)
		}
		if _, err := fsys.Stat(t.Context(), "/out"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the output is there again: %v", err)
		}
	}
}

// TestCleanUpKeepsFilesOfOthers puts files of a user and of another job into the output
// directory of a job that has failed. Only the files of the failed job are removed.
func TestCleanUpKeepsFilesOfOthers(t *testing.T) {
	for name, file := range map[string]string{
		"of a user": "/out/notes", "of a nested directory": "/out/daily/part-r-00000", "of another job": "/out/_temporary/job_1_0002/piece",
	} {
		t.Run(name, func(t *testing.T) {
			fsys, _ := staged(t)
			put(t, fsys, file, "kept")
			w := workOn(fsys, nil)
			w.setUp = true
			must.Do(t, w.removeTemporary(t.Context()))
			if got, want := tree(t, fsys, "/out"), file+`="kept" `; got != want {
				t.Errorf("left: %s, want %s", got, want)
			}
		})
	}
}

// TestDeposedLeaderKeepsOutputOfTheNextJob suspends a leader before each call of a commit or
// a clean-up. Meanwhile another leader ends the job, the user removes the output, and the
// next job writes to the same directory. Then the first leader resumes.
func TestDeposedLeaderKeepsOutputOfTheNextJob(t *testing.T) {
	kinds := map[string]func(*jobWork, context.Context) error{"commit": (*jobWork).commit, "clean up": (*jobWork).removeTemporary}
	for name, work := range kinds {
		for running := range 2 {
			t.Run(fmt.Sprint(name, running), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { deposeBeforeEachCall(t, work, running == 1) })
			})
		}
	}
}

// deposeBeforeEachCall lets the next job be running or committed when the deposed leader
// resumes.
func deposeBeforeEachCall(t *testing.T, work func(*jobWork, context.Context) error, running bool) {
	for n, calls := 1, 1; n <= calls; n++ {
		inner, files := staged(t)
		calling := make(chan struct{}, 1) // a commit makes several calls at once; here one follows the other
		count, want := 0, ""
		var replace func()
		late := workOn(fault.New(inner, fault.Options{Ask: func(op fault.Op, path string) (time.Duration, error) {
			calling <- struct{}{}
			defer func() { <-calling }()
			if count++; count == n {
				replace()
			}
			return 0, nil
		}}), nil)
		late.files, late.setUp = files, true
		replace = func() {
			ctx := context.Background()
			first := workOn(inner, nil)
			first.files = files
			_ = first.commit(ctx) // the deposed leader may have done all of it
			if err := inner.Remove(ctx, "/out", true); err != nil {
				t.Error(err)
			}
			next := workOn(inner, nil)
			next.job.Number = 2
			if err := next.makeOutput(ctx); err != nil {
				t.Error(err)
			}
			put(t, inner, "/out/_temporary/job_1_0002/piece", "next")
			next.files = []finalFile{{"part-r-00000", []cluster.Piece{{Output: "part", Path: "mem:///out/_temporary/job_1_0002/piece", Length: 4}}}}
			if !running {
				if err := next.commit(ctx); err != nil {
					t.Error(err)
				}
			}
			want = tree(t, inner, "/out")
		}
		_ = work(late, t.Context())
		calls = max(calls, count)
		if count < n {
			return
		}
		if got := tree(t, inner, "/out"); got != want {
			t.Fatalf("suspended before call %d: output is %s, want %s", n, got, want)
		}
	}
}

func TestOnlyOwnOutputIsRemoved(t *testing.T) {
	fsys, _ := staged(t)
	if err := workOn(fsys, nil).makeOutput(t.Context()); err != nil {
		t.Errorf("set-up again by the same job: %v", err)
	}
	other := workOn(fsys, nil)
	other.job.Number = 2
	if err := other.makeOutput(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("set-up by another job: %v", err)
	}
	before := tree(t, fsys, "/out")
	if err := other.removeTemporary(t.Context()); err != nil || tree(t, fsys, "/out") != before {
		t.Errorf("another job removed it: %v", err)
	}
	must.Do(t, workOn(fsys, nil).removeTemporary(t.Context()))
	if _, err := fsys.Stat(t.Context(), "/out"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("output of the job itself: %v", err)
	}
}

func TestPiecesOfSplitTasksAreJoinedInOrderOfTheirRanges(t *testing.T) {
	s := cluster.New("1")
	apply := func(c cluster.Command) {
		t.Helper()
		if _, err := s.Apply(cluster.Entry{At: 1, Command: c}); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
	}
	whole := dag.Range{End: dag.Position{Offset: 100}}
	task := func(n int) cluster.TaskID { return cluster.TaskID{Job: testJob, Stage: "m", Number: n} }
	piece := func(t *cluster.Task, name string) cluster.Manifest {
		path := fmt.Sprintf("/out/_temporary/%v/%v.%s", testJob, cluster.AttemptID{Task: t.ID}, name)
		return cluster.Manifest{Pieces: []cluster.Piece{{Output: "part", Path: path, Part: t.Part}}}
	}
	apply(cluster.JoinMachine{Name: "n", Slots: cluster.Slots{5, 0}})
	apply(cluster.SubmitJob{Spec: cluster.JobSpec{Graph: dag.MapReduce(2, 0), OutputDir: "/out", MaxAttempts: [2]int{1, 1}}})
	apply(cluster.StartJob{Job: testJob})
	apply(cluster.StartAttempt{Task: task(0), Machine: "n", Range: whole})
	apply(cluster.StartAttempt{Task: task(1), Machine: "n", Range: whole})
	apply(cluster.SplitTask{Attempt: cluster.AttemptID{Task: task(0)}, At: dag.Position{Offset: 60}})
	apply(cluster.SplitTask{Attempt: cluster.AttemptID{Task: task(0)}, At: dag.Position{Offset: 30}})
	end := func(n int, from, to int64, path string) {
		t.Helper()
		_, _, cut, _ := s.View().Task(task(n))
		r := dag.Range{Start: dag.Position{Offset: from}, End: dag.Position{Offset: to}}
		if n > 1 {
			apply(cluster.StartAttempt{Task: task(n), Machine: "n", Range: r})
		}
		apply(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: task(n)}, Range: r, Output: piece(cut, path)})
	}
	end(2, 60, 100, "last")
	end(0, 0, 30, "first")
	end(3, 30, 60, "middle")
	end(1, 0, 100, "other")
	got := ""
	for _, f := range finalFiles(s.View().Job(testJob)) {
		got += f.name + ":"
		for _, p := range f.pieces {
			got += " " + strings.TrimPrefix(path.Ext(p.Path), ".")
		}
		got += "\n"
	}
	if want := "part-m-00000: first middle last\npart-m-00001: other\n"; got != want {
		t.Errorf("files are\n%swant\n%s", got, want)
	}
}
