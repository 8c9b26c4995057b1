package board

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// The equality of documents with those of the leader is tested in package jobmaster, beside the masters.

const goneJob = "job_1_0007"

// logs is a Leader that reads logs.
type logs struct{ Leader } // panics for other questions

func (logs) ReadLog(_ context.Context, a report.Attempt, dir, stream string, _ docs.LogRange) (docs.LogPart, error) {
	return docs.LogPart{Text: fmt.Append(nil, a.ID, " ", a.Tasknode, " ", a.State, " ", dir, " ", stream)}, nil
}

// largeJob returns a board with a job whose maps have finished, on 100 machines.
func largeJob(tb testing.TB, maps int) *board.Board {
	b, state, at := board.New(board.Config{Now: func() time.Time { return time.UnixMilli(1_000_000) }}), cluster.New("1"), int64(0)
	do := func(c cluster.Command) {
		at += 10
		e := cluster.Entry{At: at, Command: c}
		delta, err := state.Apply(e)
		if err != nil {
			tb.Fatalf("%T: %v", c, err)
		}
		b.Commit(e, delta, state.View())
	}
	job := cluster.JobID{Cluster: "1", Number: 1}
	do(cluster.SubmitJob{Spec: cluster.JobSpec{Name: "large", Graph: dag.MapReduce(maps, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000}})
	do(cluster.StartJob{Job: job})
	must.Do(tb, state.Load(job, make([]cluster.Split, maps)))
	for n := range 100 {
		do(cluster.JoinMachine{Name: fmt.Sprint("n", n), Instance: "x", Slots: cluster.Slots{4, 1}})
	}
	for n := range maps {
		task := cluster.TaskID{Job: job, Stage: "m", Number: n}
		do(cluster.StartAttempt{Task: task, Machine: fmt.Sprint("n", n%100), Local: n%3 > 0})
		at += int64(n * 7919 % 1000)
		do(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: task}, Output: cluster.Manifest{Bytes: int64(n * 31 % 1000), Records: int64(n % 4999)}})
	}
	return b
}

// goneStatus is what the history of goneJob says.
func goneStatus() *wire.JobStatus {
	attempt := &wire.TaskStatus_Attempt{Id: "attempt_1_0007_m_000002_0", Machine: "n3", State: wire.AttemptState_ATTEMPT_SUCCEEDED, StartTime: 1000, FinishTime: 5000, SuspendedMillis: 1500}
	return &wire.JobStatus{
		JobId: goneJob, Name: "gone", State: wire.JobState_SUCCEEDED, SubmitTime: 500, FinishTime: 6000, LogDir: "logs", Properties: map[string]string{"a": "b"},
		Tasks: []*wire.TaskStatus{{Id: "task_1_0007_m_000002", Kind: taskproc.Kind_MAP, State: wire.TaskState_TASK_SUCCEEDED, Attempts: []*wire.TaskStatus_Attempt{attempt}}},
	}
}

// master is the state of a process. The job goneJob has left it.
type master struct{ Master }

func (master) LiveJobs(context.Context) (map[cluster.JobID]board.Live, error) { return nil, nil }

func (master) LocalJob(_ context.Context, id string, _ bool) (*wire.JobStatus, error) {
	switch id {
	case goneJob:
		return nil, fmt.Errorf("%w: %s", cluster.ErrRetired, id)
	case "job_1_0001":
		return &wire.JobStatus{JobId: id, State: wire.JobState_RUNNING}, nil
	}
	return nil, fmt.Errorf("%w: %s", cluster.ErrUnknown, id)
}

func (master) LocalCounters(ctx context.Context, job string) (map[string]counter.Values, error) {
	_, err := master{}.LocalJob(ctx, job, false)
	return map[string]counter.Values{"MAP": {"g": {"c": 1}}}, err
}

func (master) LocalTaskCounters(ctx context.Context, task cluster.TaskID) (counter.Values, error) {
	_, err := master{}.LocalJob(ctx, task.Job.String(), false)
	return counter.Values{"g": {"c": 1}}, err
}

var gone = history.Job{Status: goneStatus(), Events: apidoc.Events{Since: 6000, Events: []apidoc.Event{
	{At: 1000, Kind: "start", Attempt: "attempt_1_0007_m_000002_0", Node: "n3"}, {At: 5000, Kind: "finish", Attempt: "attempt_1_0007_m_000002_0", Node: "n3"},
}}}

// newPast has the history of goneJob, and counts how often it is read as a whole.
func newPast(asked *atomic.Int64) docs.Reader {
	t := docs.Table{}
	ofGone := func(job string) error {
		if job != goneJob {
			return fmt.Errorf("no job %q: %w", job, docs.ErrUnknown)
		}
		return nil
	}
	docs.Serve(t, docs.Status, func(_ context.Context, q docs.JobID) (docs.Answer[*wire.JobStatus], error) {
		err := ofGone(q.Job)
		if err == nil {
			asked.Add(1)
		}
		return docs.Answer[*wire.JobStatus]{Value: gone.Status}, err
	})
	docs.Serve(t, docs.Task, func(_ context.Context, q docs.TaskID) (docs.Answer[report.Task], error) {
		tasks := apidoc.Tasks(gone.Status)
		if q.Job != goneJob || q.Task != tasks[0].ID {
			return docs.Answer[report.Task]{}, unknownTask(q)
		}
		return docs.Answer[report.Task]{Value: tasks[0]}, nil
	})
	docs.Serve(t, docs.Columns, func(_ context.Context, q docs.JobID) (docs.Answer[*apidoc.TaskColumns], error) {
		c := gone.Columns()
		c.Bytes[0], c.Records[0] = 7, 3
		return docs.Answer[*apidoc.TaskColumns]{Value: c}, ofGone(q.Job)
	})
	docs.Serve(t, docs.Audit, func(_ context.Context, q docs.AuditQuery) (docs.Answer[apidoc.Audit], error) {
		return docs.Answer[apidoc.Audit]{Value: q.Select([]apidoc.UserAction{{User: "eve", Do: "job.kill", ID: goneJob}}, 10)}, ofGone(q.Job)
	})
	docs.Serve(t, docs.Events, func(_ context.Context, q docs.TaskID) (docs.Answer[apidoc.Events], error) {
		return docs.Answer[apidoc.Events]{Value: gone.EventLog()}, ofGone(q.Job)
	})
	docs.Serve(t, docs.TypeCounters, func(context.Context, docs.JobID) (docs.Answer[map[string]counter.Values], error) {
		return docs.Answer[map[string]counter.Values]{Value: map[string]counter.Values{"REDUCE": {"g": {"c": 2}}}}, nil
	})
	return t.Reader()
}

// newSource returns the pages of a board.
func newSource(b *board.Board, asked *atomic.Int64, now func() time.Time) *Source {
	return New(Config{Cluster: "1", Board: b, Leader: logs{}, Past: newPast(asked), Now: now, Master: master{}})
}

// TestCountersAreOfTheStateOrThePast asks about a job in the state and about one that has left it.
func TestCountersAreOfTheStateOrThePast(t *testing.T) {
	s, ctx := newSource(largeJob(t, 1), new(atomic.Int64), time.Now), t.Context()
	for job, want := range map[string]map[string]counter.Values{"job_1_0001": {"MAP": {"g": {"c": 1}}}, goneJob: {"REDUCE": {"g": {"c": 2}}}} {
		if a, err := docs.TypeCounters.Read(ctx, s, docs.JobID{Job: job}); err != nil || !reflect.DeepEqual(a.Value, want) {
			t.Errorf("%s: %v, %v", job, a.Value, err)
		}
	}
	if a, err := docs.TaskCounters.Read(ctx, s, docs.TaskID{Job: "job_1_0001", Task: "task_1_0001_m_000000"}); err != nil || a.Value["g"]["c"] != 1 {
		t.Errorf("%v, %v", a.Value, err)
	}
	for _, task := range []string{"task_1_0002_m_000000", "nonsense"} {
		if _, err := docs.TaskCounters.Read(ctx, s, docs.TaskID{Job: "job_1_0001", Task: task}); !errors.Is(err, docs.ErrUnknown) {
			t.Errorf("%s: %v", task, err)
		}
	}
}

// TestJobsThatHaveLeftTheState are read from their histories, which are not read again for a while.
func TestJobsThatHaveLeftTheState(t *testing.T) {
	var asked, ms atomic.Int64
	s := newSource(largeJob(t, 1), &asked, func() time.Time { return time.UnixMilli(ms.Load()) })
	for range 20 {
		ms.Add(1000)
		ctx := t.Context()
		r, err := docs.Job.Read(ctx, s, docs.JobID{Job: goneJob})
		c, err2 := docs.Columns.Read(ctx, s, docs.JobID{Job: goneJob})
		task, err3 := docs.Task.Read(ctx, s, docs.TaskID{Job: goneJob, Task: "task_1_0007_m_000002"})
		events, err4 := docs.Events.Read(ctx, s, docs.TaskID{Job: goneJob, Task: "task_1_0007_m_000002"})
		text, err5 := s.Log(ctx, "attempt_1_0007_m_000002_0", "stderr", docs.LogRange{})
		must.Do(t, errors.Join(err, err2, err3, err4, err5))
		want := apidoc.TaskRow{ID: "task_1_0007_m_000002", Type: "MAP", Stage: "m", Number: 2, State: "SUCCEEDED", Attempts: 1, Node: "n3", Place: "unknown", StartTime: 1000, FinishTime: 5000, Duration: 2500, Bytes: 7, Records: 3}
		if got := c.Value.Row(goneJob, 0); got != want || r.Value.Name != "gone" || len(r.Value.Tasks)+len(r.Value.Configuration) > 0 {
			t.Fatalf("%+v, want %+v; %+v", got, want, r.Value)
		}
		kinds := []string{}
		for _, e := range events.Value.Events {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, []string{"start", "finish"}) || events.Value.Since != 6000 || len(task.Value.Attempts) != 1 || string(text.Text) != "attempt_1_0007_m_000002_0 n3 SUCCEEDED logs stderr" {
			t.Fatalf("%+v, %+v, %q", events.Value, task.Value, text.Text)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the history was read %d times", n)
	}
}

func TestUnknownObjects(t *testing.T) {
	var asked atomic.Int64
	s, ctx := newSource(largeJob(t, 1), &asked, time.Now), t.Context()
	for name, ask := range map[string]func() error{
		"job":            func() error { _, err := docs.Job.Read(ctx, s, docs.JobID{Job: "job_1_0099"}); return err },
		"no id of a job": func() error { _, err := docs.Columns.Read(ctx, s, docs.JobID{Job: "x"}); return err },
		"tasks":          func() error { _, err := docs.Tasks.Read(ctx, s, docs.TaskQuery{Job: "job_1_0099"}); return err },
		"task": func() error {
			_, err := docs.Task.Read(ctx, s, docs.TaskID{Job: "job_1_0001", Task: "task_1_0001_m_000009"})
			return err
		},
		"task of another job": func() error {
			_, err := docs.Task.Read(ctx, s, docs.TaskID{Job: "job_1_0001", Task: "task_1_0002_m_000000"})
			return err
		},
		"task of an old job": func() error {
			_, err := docs.Task.Read(ctx, s, docs.TaskID{Job: goneJob, Task: "task_1_0007_m_000009"})
			return err
		},
		"events of a task": func() error {
			_, err := docs.Events.Read(ctx, s, docs.TaskID{Job: "job_1_0001", Task: "task_1_0001_x_000000"})
			return err
		},
		"log":                 func() error { _, err := s.Log(ctx, "attempt_1_0001_m_000000_7", "stdout", docs.LogRange{}); return err },
		"no id of an attempt": func() error { _, err := s.Log(ctx, "nonsense", "stdout", docs.LogRange{}); return err },
		"configuration":       func() error { _, err := docs.Configuration.Read(ctx, s, docs.JobID{Job: "job_1_0099"}); return err },
		"summary": func() error {
			_, err := docs.Summary.Read(ctx, s, docs.SummaryQuery{Job: "job_1_0099", By: "node"})
			return err
		},
		"events":               func() error { _, err := docs.Events.Read(ctx, s, docs.TaskID{Job: "job_1_0099"}); return err },
		"log of another job's": func() error { _, err := s.Log(ctx, "attempt_9_0009_m_000000_0", "stdout", docs.LogRange{}); return err },
	} {
		if err := ask(); !errors.Is(err, docs.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSilenceIsShown(t *testing.T) {
	var asked atomic.Int64
	s := newSource(largeJob(t, 1), &asked, func() time.Time { return time.UnixMilli(1_000_000) })
	for silence, want := range map[time.Duration]string{0: "", 4 * time.Second: "", 8 * time.Second: "no contact to a leader for 8s"} {
		s.cfg.Contact = func() time.Time { return time.UnixMilli(1_000_000).Add(-silence) }
		a, err := docs.Jobs.Read(t.Context(), s, docs.JobQuery{})
		if err != nil || (a.Stale != nil) != (want != "") || want != "" && !strings.Contains(a.Stale.Error(), want) {
			t.Errorf("after %v: %v, %v", silence, a.Stale, err)
		}
	}
	s.cfg.Contact = func() time.Time { return time.Time{} }
	if a, err := docs.Jobs.Read(t.Context(), s, docs.JobQuery{}); err != nil || a.Stale == nil || a.At.IsZero() {
		t.Errorf("without any contact: %+v, %v", a, err)
	}
}

// TestAuditHasTheLatestActions lists actions on jobs and the policy, the latest first.
func TestAuditHasTheLatestActions(t *testing.T) {
	b, state, at := board.New(board.Config{Now: func() time.Time { return time.UnixMilli(1_000_000) }}), cluster.New("1"), int64(0)
	do := func(by string, c cluster.Command) {
		at += 10
		e := cluster.Entry{At: at, Command: c, By: by}
		delta, err := state.Apply(e)
		if err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		b.Commit(e, delta, state.View())
	}
	job := cluster.JobID{Cluster: "1", Number: 1}
	do("", cluster.SubmitJob{Spec: cluster.JobSpec{Name: "j", Graph: dag.MapReduce(1, 1), MaxAttempts: [2]int{4, 4}, SlowStartPPM: 1_000_000}})
	do("ann", cluster.SetPriority{Job: job, Priority: 2})
	do("bob", cluster.SetPolicy{Name: "fair"})
	do("ann", cluster.KillJob{Job: job})
	s := newSource(b, new(atomic.Int64), func() time.Time { return time.UnixMilli(1_000_000) })
	for _, c := range []struct {
		query docs.AuditQuery
		want  []string
	}{
		{docs.AuditQuery{}, []string{"ann killed the job", "bob set the policy to fair", "ann set the priority to VERY_HIGH"}},
		{docs.AuditQuery{Job: "job_1_0001"}, []string{"ann killed the job", "ann set the priority to VERY_HIGH"}},
		{docs.AuditQuery{Object: "policy"}, []string{"bob set the policy to fair"}},
		{docs.AuditQuery{Job: "job_1_0002"}, nil},
		{docs.AuditQuery{Job: goneJob}, []string{"eve killed the job"}}, // of its history
	} {
		a, err := docs.Audit.Read(t.Context(), s, c.query)
		var got []string
		for _, u := range a.Value.Actions {
			got = append(got, u.User+" "+u.Text())
		}
		if err != nil || !slices.Equal(got, c.want) || a.Value.Since != 10 {
			t.Errorf("%+v: %q since %d, %v; want %q", c.query, got, a.Value.Since, err, c.want)
		}
	}
}
