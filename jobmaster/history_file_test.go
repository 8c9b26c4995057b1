package jobmaster_test

import (
	"errors"
	"path"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// readHistory returns the history in a file of the first day.
func (w *testCluster) readHistory(name string) *history.Job {
	w.t.Helper()
	f, err := w.fs.Open(w.ctx, path.Join("/history/2000-01-01", name))
	must.Do(w.t, err)
	h, err := history.Decode(f)
	if err = errors.Join(err, f.Close()); err != nil {
		w.t.Fatal(err)
	}
	return h
}

// TestHistoryHasCountersInputsAndEvents reads what the leader writes when a job is over.
func TestHistoryHasCountersInputsAndEvents(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.counted = []*taskproc.Counter{{Group: counter.MapInputRecords.Group, Name: counter.MapInputRecords.Name, Value: 7}}
		w.elect(0)
		w.addTasknode("a", 2, 2)
		id := w.submit(3, 1)
		w.wantErr("priority", w.leader().SetPriority(jobmaster.WithUser(w.ctx, "ann"), id, 1), nil, "")
		w.wantSucceeded(id)
		w.sleep(1e9)
		h := w.readHistory(id + history.CompressedSuffix)
		if len(h.Status.Tasks) != 4 || len(h.Tasks) != 4 || len(h.CounterNames) == 0 {
			t.Fatalf("%d tasks, counters %v", len(h.Tasks), h.CounterNames)
		}
		for i, task := range h.Tasks[:3] {
			if want := (history.Input{File: "mem:///in", Start: int64(i) * 100, Length: 100, Files: 1}); task.Input == nil || *task.Input != want {
				t.Errorf("map %d reads %+v", i, task.Input)
			}
			if len(task.Attempts) != 1 || task.Attempts[0].End != "finish" || task.Attempts[0].Place == "" || h.CountersOf(i).Get(counter.MapInputRecords) != 7 {
				t.Errorf("map %d: %+v", i, task)
			}
		}
		if len(h.Actions) != 1 || h.Actions[0].User != "ann" || h.Actions[0].Text() != "set the priority to HIGH" {
			t.Errorf("actions %+v", h.Actions)
		}
		if h.Tasks[3].Input != nil {
			t.Errorf("the reduce reads %+v", h.Tasks[3].Input)
		}
		kinds := make(map[string]int)
		for _, e := range h.Events.Events {
			kinds[e.Kind]++
		}
		if kinds["start"] != 4 || kinds["finish"] != 4 || h.Events.Since != 0 {
			t.Errorf("events %v since %d", kinds, h.Events.Since)
		}
		if s, err := w.leader().Job(w.ctx, id, true); err != nil || len(s.Tasks) != 4 || s.State != wire.JobState_SUCCEEDED {
			t.Errorf("the leader answers %v, %v", s, err)
		}
	})
}

// TestHistoryHidesSecrets looks for the password of a job in the file of its history.
func TestHistoryHidesSecrets(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		spec := w.spec(1, 1)
		spec.Properties = map[string]string{"app.db.password": "hunter2", "app.size": "3"}
		id := w.submitSpec(spec)
		w.wantSucceeded(id)
		w.sleep(1e9)
		got := w.readHistory(id + history.CompressedSuffix).Status.Properties
		if got["app.size"] != "3" || got["app.db.password"] != clean.Hidden {
			t.Errorf("properties in the history: %v", got)
		}
	})
}
