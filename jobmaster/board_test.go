package jobmaster_test

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/testing/must"
)

// boardContents is what readers see of a job.
type boardContents struct {
	Job    board.JobRow
	Stages []board.StageRow
	Tasks  []board.Task
	Events []apidoc.Event
}

// onBoard returns what a master shows of the first job.
func (w *testCluster) onBoard(master int) (c boardContents) {
	w.t.Helper()
	id := cluster.JobID{Cluster: "1", Number: 1}
	s := w.masters[master].Board().Snapshot()
	j := s.Job(id)
	if j == nil {
		w.t.Fatalf("the board of master %d has not the job", master)
	}
	events, err := s.Events(id, cluster.TaskID{})
	must.Do(w.t, err)
	var tasks []board.Task
	for t := range s.Tasks(j) {
		tasks = append(tasks, *t)
	}
	return boardContents{j.JobRow, j.Stages, tasks, events.Events}
}

// TestAllMastersHaveTheSameBoard compares the boards of a leader and of followers while a job
// runs, after a change of leader and when the job is archived.
func TestAllMastersHaveTheSameBoard(t *testing.T) {
	withCluster(t, 3, func(w *testCluster) {
		same := func(when string) boardContents {
			t.Helper()
			synctest.Wait()
			want := w.onBoard(0)
			for master := 1; master < 3; master++ {
				if got := w.onBoard(master); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: master %d shows %+v, master 0 %+v", when, master, got, want)
				}
			}
			return want
		}
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(4, 2)
		w.sleep(1500 * time.Millisecond)
		if c := same("while maps run"); c.Job.State != cluster.JobRunning || len(c.Tasks) != 6 || c.Stages[0].Finished != 1 || c.Stages[0].InSlots != 1 || len(c.Events) < 3 {
			t.Errorf("while maps run: %+v", c)
		}
		w.elect(1)
		w.sleep(2 * time.Second)
		if c := same("under the next leader"); c.Stages[0].Finished < 2 {
			t.Errorf("under the next leader: %+v", c)
		}
		w.wait(id)
		w.sleep(time.Minute)
		if c := same("at the end"); c.Job.State != cluster.JobSucceeded || !c.Job.Archived || c.Job.Name != "test" || c.Job.User != "me" || len(c.Tasks)+len(c.Events) > 0 {
			t.Errorf("at the end: %+v", c)
		}
	})
}
