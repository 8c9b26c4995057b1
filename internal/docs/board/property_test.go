package board

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"pgregory.net/rapid"
)

// testBoard returns a board whose clock always allows another snapshot.
func testBoard() *Board {
	now := time.UnixMilli(0)
	return New(Config{
		Summary: func(summary []byte) Summary { return Summary{Name: string(summary)} }, InputRecords: []cluster.CounterName{inputRecords},
		Now: func() time.Time { now = now.Add(time.Hour); return now },
	})
}

// contentsOf is everything that a snapshot shows of the state, without what the state does not
// keep.
type contentsOf struct {
	Jobs     []JobRow
	Stages   [][]StageRow
	Tasks    []Task
	Attempts []Attempt
}

// read returns the contents of a snapshot.
func read(s *Snapshot) (c contentsOf) {
	for _, j := range s.Jobs {
		c.Jobs, c.Stages = append(c.Jobs, j.JobRow), append(c.Stages, j.Stages)
		for t := range s.Tasks(j) {
			t.Place, t.Duration = PlaceUnknown, 0
			c.Tasks = append(c.Tasks, *t)
			attempts, err := s.Attempts(t.ID)
			if err != nil {
				panic(err)
			}
			for _, a := range attempts {
				a.Place = PlaceUnknown
				c.Attempts = append(c.Attempts, a)
			}
		}
	}
	return c
}

// walk returns the contents of a view, from the view alone.
func walk(view cluster.View) (c contentsOf) {
	for j := range view.Jobs() {
		row := JobRow{
			ID: j.ID, Name: j.Spec.Name, OutputDir: j.Spec.OutputDir, User: j.Spec.User, Pool: j.Spec.Pool, Priority: j.Spec.Priority, State: j.State, Cause: j.Cause,
			Suspended: j.Suspended, Archived: j.Archived, SubmittedAt: j.SubmittedAt, StartedAt: j.StartedAt, CommitAt: j.CommitAt, FinishedAt: j.FinishedAt,
		}
		if j.Archived {
			row.Name, row.OutputDir, row.Summary = string(j.Summary), "", Summary{Name: string(j.Summary)}
		}
		var stages []StageRow
		for _, s := range j.Stages {
			inSlots := 0
			for t, a := range s.Attempts() {
				c.Attempts = append(c.Attempts, Attempt{
					ID: a.ID, Machine: a.Machine, State: a.State, Start: a.StartedAt, End: a.EndedAt,
				})
				if t.ID != a.ID.Task {
					panic("attempt of another task")
				}
				if a.OccupiesSlot() {
					inSlots++
				}
			}
			for _, t := range s.Tasks {
				c.Tasks = append(c.Tasks, walkTask(j, t))
			}
			stages = append(stages, stageRow(s, inSlots))
		}
		c.Jobs, c.Stages = append(c.Jobs, row), append(c.Stages, stages)
	}
	return c
}

func walkTask(j *cluster.Job, t *cluster.Task) Task {
	row := Task{ID: t.ID, State: t.State, Attempts: len(t.Attempts)}
	var shown *cluster.Attempt
	if len(t.Attempts) > 0 {
		row.Start, shown = t.Attempts[0].StartedAt, t.Attempts[len(t.Attempts)-1]
	}
	if w := t.Winner; w != nil {
		shown, row.End, row.Bytes, row.Records, row.In = w, w.EndedAt, t.Output.Bytes, t.Output.Records, j.CounterOf(t, inputRecords)
	}
	if shown != nil {
		row.Machine = shown.Machine
	}
	active := slices.DeleteFunc(slices.Clone(t.Attempts), func(a *cluster.Attempt) bool { return !a.Active() })
	row.Suspended = t.State == cluster.TaskRunning && len(active) > 0 && !slices.ContainsFunc(active, func(a *cluster.Attempt) bool { return !a.Suspended() })
	return row
}

// TestBoardShowsTheState applies random commands. After each, the board equals a walk of the
// state. A board that follows from a later moment, or that was synchronized, shows the same, and
// a board on another master has the same events. A snapshot never changes.
func TestBoardShowsTheState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newRandomCluster(t)
		leader, follower := testBoard(), testBoard()
		var actions []apidoc.UserAction
		early := &Snapshot{}
		var earlyContents contentsOf
		keptAt := rapid.IntRange(0, steps-1).Draw(t, "snapshot")
		for step := range steps {
			e, delta, ok := c.apply()
			if !ok {
				continue
			}
			if e.By = rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"); e.By != "" {
				if a, _ := actionOf(e.Command); a.Do != "" {
					a.Time, a.User = e.At, e.By
					actions = append(actions, a)
				}
			}
			leader.Commit(e, delta, c.view)
			follower.Commit(e, delta, c.view)
			s := leader.Snapshot()
			if want, got := walk(c.view), read(s); !reflect.DeepEqual(want, got) {
				t.Fatalf("after %T %+v (- state, + board):\n%s", e.Command, e.Command, cmp.Diff(want, got))
			}
			if step >= keptAt && early.Changes == 0 {
				early, earlyContents = s, read(s)
			}
		}
		if diff := cmp.Diff(earlyContents, read(early)); diff != "" {
			t.Errorf("a snapshot has changed (- before, + now):\n%s", diff)
		}
		for _, id := range leader.Snapshot().Jobs {
			if a, b := events(leader.Snapshot(), id.ID), events(follower.Snapshot(), id.ID); !slices.Equal(a, b) {
				t.Errorf("events of %v on the leader: %v; on a follower: %v", id.ID, a, b)
			}
		}
		checkActions(t, actions, leader.Snapshot(), follower.Snapshot())
		restored := testBoard()
		restored.Restore(c.view)
		leader.Sync(c.at, c.view)
		for _, b := range []*Board{restored, leader} {
			if diff := cmp.Diff(walk(c.view), read(b.Snapshot())); diff != "" {
				t.Errorf("restored or synchronized (- state, + board):\n%s", diff)
			}
		}
	})
}

func events(s *Snapshot, id cluster.JobID) []apidoc.Event {
	all, _ := s.Events(id, cluster.TaskID{})
	return all.Events
}

// TestSyncFindsEverything compares a board that has seen no entry with the state.
func TestSyncFindsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newRandomCluster(t)
		b := testBoard()
		for range steps {
			if c.apply(); rapid.IntRange(0, 9).Draw(t, "sync") == 0 {
				b.Sync(c.at, c.view)
			}
		}
		b.Sync(c.at, c.view)
		if diff := cmp.Diff(walk(c.view), read(b.Snapshot())); diff != "" {
			t.Errorf("synchronized (- state, + board):\n%s", diff)
		}
	})
}

// checkActions compares the actions of two boards with those of all entries with a user.
func checkActions(t *rapid.T, all []apidoc.UserAction, leader, follower *Snapshot) {
	if want := all[max(0, len(all)-maxActions):]; !slices.Equal(leader.Actions, want) || !slices.Equal(follower.Actions, want) {
		t.Errorf("actions on the leader: %v; on a follower: %v; want %v", leader.Actions, follower.Actions, want)
	}
	for _, j := range leader.Jobs {
		var want []apidoc.UserAction
		for _, a := range all {
			attempt, err := cluster.ParseAttemptID(a.ID)
			if a.ID == j.ID.String() || err == nil && attempt.Task.Job == j.ID {
				want = append(want, a)
			}
		}
		if want = want[max(0, len(want)-maxJobActions):]; !slices.Equal(j.Actions, want) {
			t.Errorf("actions on %v: %v; want %v", j.ID, j.Actions, want)
		}
	}
}
