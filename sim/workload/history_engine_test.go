package workload

import (
	"bytes"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestHistoryOfTheEngine reads a history that the jobmaster has written.
func TestHistoryOfTheEngine(t *testing.T) {
	attempt := func(state wire.AttemptState, from, to int64) *wire.TaskStatus_Attempt {
		return &wire.TaskStatus_Attempt{Id: "a", Machine: "n0001", State: state, StartTime: 1e12 + from, FinishTime: 1e12 + to}
	}
	s := &wire.JobStatus{
		JobId: "job_1_0007", Name: "n", User: "u", Queue: "q", Priority: "VERY_LOW", State: wire.JobState_SUCCEEDED, SubmitTime: 1e12,
		InputBytes: 10, Properties: map[string]string{slowStartProperty: "1"}, Partitions: []*wire.Partition{{Bytes: 7}},
		Tasks: []*wire.TaskStatus{
			{Id: "task_1_0007_m_000000", Kind: taskproc.Kind_MAP, Attempts: []*wire.TaskStatus_Attempt{
				attempt(wire.AttemptState_ATTEMPT_PREEMPTED, 5, 25), attempt(wire.AttemptState_ATTEMPT_SUCCEEDED, 30, 50)}},
			{Id: "task_1_0007_s2_000000", Kind: taskproc.Kind_REDUCE, Attempts: []*wire.TaskStatus_Attempt{
				attempt(wire.AttemptState_ATTEMPT_KILLED, 5, 25), attempt(wire.AttemptState_ATTEMPT_SUCCEEDED, 30, 80)}},
		},
	}
	var b bytes.Buffer
	must.Do(t, history.Encode(&b, &history.Job{Status: s, Events: apidoc.Events{Events: []apidoc.Event{{At: 1e12, Kind: "start"}}}}))
	w, err := Read(&b, "h", Options{})
	must.Do(t, err)
	wantJobOfTheEngine(t, s, w)
}

func wantJobOfTheEngine(t *testing.T, s *wire.JobStatus, w *Workload) {
	t.Helper()
	j := w.Jobs[0]
	if len(w.Jobs) != 1 || j.ID != s.JobId || j.Name != "n" || j.User != "u" || j.Pool != "q" || j.Priority != -2 || j.SlowStart != 1 || j.Submit != 0 {
		t.Errorf("job %+v", j)
	}
	if !slices.Equal(j.Maps, []Task{{40, 10}}) || !slices.Equal(j.Reduces, []Task{{30, 7}}) {
		t.Errorf("maps %v, reduces %v, want 20 + 20 ms, and 30 ms after the map", j.Maps, j.Reduces)
	}
	if want := []string{"jobs of graphs, whose stages run as maps and reduces: 1"}; !slices.Equal(w.Notes, want) {
		t.Errorf("notes %q, want %q", w.Notes, want)
	}
}

// TestEmptyHistory reads a history without tasks.
func TestEmptyHistory(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, history.Encode(&b, &history.Job{Status: &wire.JobStatus{JobId: "job_1_0001"}}))
	_, err := Read(&b, "h", Options{})
	wantError(t, err, "h: no jobs, expected at least one; jobs left out")
}
