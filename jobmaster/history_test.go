package jobmaster_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"google.golang.org/protobuf/proto"
)

func TestOldJobsRetireToTheirHistory(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 2)
		var ids []string
		for n := range 4 {
			spec := w.spec(1, 0)
			spec.Sequence, spec.OutputDir = uint64(n+1), ""
			time.Sleep(time.Second)
			id, err := w.leader().Submit(w.ctx, w.staged(spec))
			must.Do(w.t, err)
			w.wait(id)
			ids = append(ids, id)
		}
		time.Sleep(time.Second)
		for turn := range 2 {
			w.elect(turn)
			time.Sleep(time.Second)
			left, err := w.leader().Jobs(w.ctx, true)
			if err != nil || len(left) != 2 || left[0].JobId != ids[2] {
				w.t.Errorf("master %d: jobs left are %v, %v", turn, left, err)
			}
			for _, id := range ids {
				s, err := w.leader().Job(w.ctx, id, true)
				followed, followErr := w.leader().Watch(w.ctx, id, nil)
				if err != nil || followErr != nil || s.State != wire.JobState_SUCCEEDED || len(s.Tasks) != 1 || !proto.Equal(s, followed) {
					w.t.Errorf("master %d: %s is %v, %v; followed %v, %v", turn, id, s, err, followed, followErr)
				}
				short, err := w.leader().Job(w.ctx, id, false)
				s.Stages, s.Tasks, s.Partitions, s.Properties = nil, nil, nil, nil
				if err != nil || !proto.Equal(short, s) {
					w.t.Errorf("master %d: without tasks %s is %v, %v", turn, id, short, err)
				}
			}
			if err := w.leader().Kill(w.ctx, ids[0], "too late"); err != nil {
				w.t.Errorf("kill of a retired job: %v", err)
			}
		}
		if _, err := w.leader().Job(w.ctx, "job_1_0099", true); !errors.Is(err, cluster.ErrUnknown) {
			w.t.Errorf("unknown job: %v", err)
		}
	})
}

func TestExpiredFilesAreRemoved(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		create := func(names ...string) {
			for _, name := range names {
				f, err := w.fs.Create(w.ctx, name, storage.CreateOptions{})
				must.Do(w.t, err)
				must.Do(w.t, f.Close())
			}
		}
		spec := w.spec(1, 0)
		spec.BinarySha256 = bytes.Repeat([]byte{7}, 32)
		used := "/staging/artifacts/" + strings.Repeat("07", 32)
		spec.Binary = "mem://" + used
		create(used, "/staging/artifacts/unused", "/staging/jobs/gone-1/splits", "/staging/artifacts/.hidden",
			"/staging/artifacts/."+strings.Repeat("0f", 32)+".ABC234",
			"/logs/job_1_0001/a/stderr", "/logs/job_0_0001/a/stderr", "/history/job_0_0001.jsonl")
		if _, err := w.leader().Submit(w.ctx, w.staged(spec)); err != nil {
			w.t.Fatal(err)
		}
		left := func() string {
			var names []string
			for _, dir := range []string{"/staging/artifacts", "/staging/jobs", "/logs", "/history"} {
				list, err := w.fs.List(w.ctx, dir)
				must.Do(w.t, err)
				for _, e := range list {
					names = append(names, e.Path)
				}
			}
			return strings.Join(names, " ")
		}
		before := left()
		time.Sleep(23 * time.Hour)
		create("/logs/job_0_0002/a/stderr")
		if got := left(); got != strings.Replace(before, "/logs/job_1_0001", "/logs/job_0_0002 /logs/job_1_0001", 1) {
			w.t.Errorf("after 23 hours %s are left", got)
		}
		time.Sleep(3 * time.Hour)
		if got, want := left(), "/staging/artifacts/.hidden "+used+" /staging/jobs/client-1 /logs/job_0_0002 /logs/job_1_0001"; got != want {
			w.t.Errorf("after 26 hours are left\n%s, want\n%s", got, want)
		}
	})
}

// TestHistoryHasShuffleFinishTime runs a job whose only map finishes a second after the
// start. At that time its reduce has all of its input.
func TestHistoryHasShuffleFinishTime(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		s := w.wait(w.submit(1, 1))
		for _, task := range s.Tasks {
			a := task.Attempts[0]
			want := int64(0)
			if task.Kind == taskproc.Kind_REDUCE {
				want = a.FinishTime - time.Second.Milliseconds()
			}
			if a.ShuffleFinishTime < want || a.ShuffleFinishTime > want+500 {
				t.Errorf("%s had its input at %d, want %d: %v", task.Id, a.ShuffleFinishTime, want, a)
			}
		}
	})
}
