package board

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"pgregory.net/rapid"
)

// lossLines returns the losses of a tasknode, or of all, a line for each and for each of its tasks.
func (s *story) lossLines(node string) string {
	s.Helper()
	list := s.board.Losses(node).Losses
	var b strings.Builder
	for _, l := range list {
		correct := "never"
		if l.CorrectMillis != nil {
			correct = fmt.Sprint(*l.CorrectMillis)
		}
		fmt.Fprintf(&b, "%s %s at %d, back %d: %d ran, %d outputs; %d started in %d, %d of %d local, %d restored, %d dropped, %d wait, correct after %s\n",
			l.Node, l.Cause, l.Time/1000, l.Back/1000, l.Running, l.Outputs, l.Started, l.WaitMillis, l.Local, l.Maps, l.Restored, l.Dropped, l.Waiting(), correct)
		for _, t := range l.Tasks {
			fmt.Fprintf(&b, "  %s output %v: %s %d %s %s %s\n", t.Attempt[strings.LastIndex(t.Attempt, "_m_")+1:], t.Output, t.State, t.WaitMillis, t.Recovery[max(len(t.Recovery)-1, 0):], t.Node, t.Place)
		}
	}
	return b.String()
}

func (s *story) wantLosses(when, want string) {
	s.Helper()
	if got := s.lossLines(""); got != want {
		s.Errorf("%s the losses are\n%swant\n%s", when, got, want)
	}
}

func (s *story) finish(task, attempt int) {
	s.Helper()
	s.do(cluster.FinishAttempt{Attempt: try(task, attempt), Range: whole, Output: cluster.Manifest{Bytes: 8}})
}

// TestLossIsFollowedToTheCorrectSchedule loses a tasknode with a finished map, a running one and one that runs elsewhere
// too. Then it loses the other in the middle of the recovery, and both come back.
func TestLossIsFollowedToTheCorrectSchedule(t *testing.T) {
	s := newStory(t, 4, 1)
	var calls []string
	s.board.cfg.OnLoss = func(l apidoc.Loss) { calls = append(calls, fmt.Sprint(l.Node, l.Waiting())) }
	for task := range 3 {
		s.start(task, "a", true)
	}
	s.finish(0, 0)
	s.do(cluster.SpeculateTask{Task: mapTask(2), Machine: "b"})
	s.start(3, "b", false)
	s.at = 19_000
	s.do(cluster.ExpireMachine{Name: "a", Epoch: 1})
	s.wantLosses("at the loss,", `a lost at 20, back 0: 1 ran, 1 outputs; 0 started in 0, 0 of 0 local, 0 restored, 0 dropped, 2 wait, correct after never
  m_000001_0 output false: WAITING 0   
  m_000000_0 output true: WAITING 0   
`)
	s.start(1, "b", true) // at 21 s
	s.finish(1, 1)
	s.at = 29_000
	s.do(cluster.ExpireMachine{Name: "b", Epoch: 1})
	s.do(cluster.JoinMachine{Name: "a", Instance: "x", Slots: cluster.Slots{4, 4}, Retained: []cluster.AttemptID{try(0, 0)}})
	s.do(cluster.RestoreOutput{Attempt: try(0, 0), Range: whole, Output: cluster.Manifest{Bytes: 8}})
	s.start(1, "a", false) // at 33 s
	s.do(cluster.KillJob{Job: jobOne, Cause: "enough"})
	s.wantLosses("at the end,", `b lost at 30, back 0: 2 ran, 1 outputs; 1 started in 3000, 0 of 1 local, 0 restored, 2 dropped, 0 wait, correct after 4000
  m_000002_1 output false: DROPPED 0   
  m_000003_0 output false: DROPPED 0   
  m_000001_1 output true: STARTED 3000 2 a other
a lost at 20, back 31: 1 ran, 1 outputs; 1 started in 1000, 1 of 1 local, 1 restored, 0 dropped, 0 wait, correct after 12000
  m_000001_0 output false: STARTED 1000 1 b node
  m_000000_0 output true: RESTORED 0   
`)
	if got := s.lossLines("c"); got != "" {
		t.Errorf("of an unknown tasknode: %s", got)
	}
	all := s.board.Waits()
	waits, corrections := all.Recoveries, all.Corrections
	if waits.Count != 2 || waits.Millis != 4000 || corrections.Count != 2 || corrections.Millis != 16_000 || waits.Buckets[2] != 1 {
		t.Errorf("waits %+v, corrections %+v", waits, corrections)
	}
	if got, want := strings.Join(calls, " "), "a2 b3 a0 b0"; got != want {
		t.Errorf("calls %q, want %q", got, want)
	}
	s.board.Restore(s.state.View())
	s.wantLosses("after a snapshot,", "")
}

// TestLossHasItsCause ends tasknodes that a user has drained or removed, and one that starts again, with and without a task.
func TestLossHasItsCause(t *testing.T) {
	drain := []cluster.Command{cluster.DrainMachine{Name: "a", Cause: "maintenance"}, cluster.ExpireMachine{Name: "a", Epoch: 1}}
	remove := []cluster.Command{cluster.AdmitMachine{Name: "a", Excluded: true}, cluster.ExpireMachine{Name: "a", Epoch: 1}}
	join := func(instance string) cluster.Command {
		return cluster.JoinMachine{Name: "a", Instance: instance, Slots: cluster.Slots{4, 4}}
	}
	for name, c := range map[string]struct {
		commands      []cluster.Command
		with, without string
	}{
		"silent":    {[]cluster.Command{cluster.ExpireMachine{Name: "a", Epoch: 1}}, "lost 1", "lost 0"},
		"drained":   {drain, "drained 1", ""},
		"removed":   {remove, "removed 1", ""},
		"restarted": {[]cluster.Command{join("y")}, "restarted 1 back", ""},
		"reconnect": {[]cluster.Command{join("x")}, "", ""},
		"back":      {[]cluster.Command{cluster.ExpireMachine{Name: "a", Epoch: 1}, join("y")}, "lost 1 back", "lost 0 back"},
	} {
		for _, with := range []bool{true, false} {
			s, want := newStory(t, 1, 0), c.without
			if with {
				want = c.with
				s.start(0, "a", true)
			}
			for _, command := range c.commands {
				s.do(command)
			}
			var got []string
			list := s.board.Losses("").Losses
			for _, l := range list {
				got = append(got, l.Cause, fmt.Sprint(l.Running))
				if l.Back != 0 {
					got = append(got, "back")
				}
				if correct := l.CorrectMillis != nil; correct == with {
					t.Errorf("%s, with a task %v: correct %v", name, with, correct)
				}
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s, with a task %v: %q, want %q", name, with, text, want)
			}
		}
	}
}

// TestLossesAreBounded loses more tasknodes, and more tasks with one, than are kept.
func TestLossesAreBounded(t *testing.T) {
	s := newStory(t, maxLostTasks+3, 0)
	s.do(cluster.JoinMachine{Name: "c", Instance: "x", Slots: cluster.Slots{1000, 0}})
	for task := range maxLostTasks + 3 {
		s.start(task, "c", true)
	}
	s.do(cluster.ExpireMachine{Name: "c", Epoch: 1})
	for epoch := range maxLosses - 1 {
		s.do(cluster.ExpireMachine{Name: "a", Epoch: epoch + 1})
		s.do(cluster.JoinMachine{Name: "a", Instance: "x", Slots: cluster.Slots{1000, 0}})
	}
	for task := range maxLostTasks + 3 {
		s.start(task, "a", false)
	}
	all := s.board.Losses("")
	list, since := all.Losses, all.Since
	last := list[len(list)-1]
	if len(list) != maxLosses || last.Node != "c" || last.Running != maxLostTasks+3 || last.Started != last.Running || last.CorrectMillis == nil || len(last.Tasks) != maxLostTasks || since != 1000 {
		t.Errorf("%d losses since %d, the first with %d of %d tasks, correct after %v", len(list), since, len(last.Tasks), last.Running, last.CorrectMillis)
	}
	s.do(cluster.ExpireMachine{Name: "b", Epoch: 1})
	if list := s.board.Losses("c").Losses; len(list) != 0 {
		t.Errorf("the first is still there: %+v", list[0])
	}
}

// TestLossesAreThoseOfTheState applies random commands. Each task that a record lists as waiting waits in the state, each
// record adds up, and a board that follows a copy of the log has the same records.
func TestLossesAreThoseOfTheState(t *testing.T) {
	var all apidoc.Loss // sums of all runs
	rapid.Check(t, func(t *rapid.T) {
		c := newRandomCluster(t)
		leader, follower := testBoard(), testBoard()
		for range steps {
			e, delta, ok := c.apply()
			if !ok {
				continue
			}
			leader.Commit(e, delta, c.view)
			follower.Commit(e, delta, c.view)
			for id, lost := range leader.mu.losses.waiting {
				if _, _, task, known := c.view.Task(id); !known || !waits(task) || lost.open == 0 {
					t.Fatalf("after %T %v waits in the record of %s, which has %d", e.Command, id, lost.Node, lost.open)
				}
			}
		}
		list := leader.Losses("").Losses
		for i, l := range list {
			states := make(map[string]int)
			for _, task := range l.Tasks {
				states[task.State]++
			}
			want := map[string]int{"WAITING": l.Waiting(), "STARTED": l.Started, "RESTORED": l.Restored, "DROPPED": l.Dropped}
			for state, n := range want {
				if states[state] != n {
					t.Errorf("record %+v: %d tasks are %s, want %d", l, states[state], state, n)
				}
			}
			if l.Waiting() != leader.mu.losses.records[len(list)-1-i].open || l.Local > l.Maps || l.Maps > l.Started || (l.CorrectMillis != nil) != (l.Waiting() == 0) {
				t.Errorf("record %+v does not add up", l)
			}
			all.Running, all.Outputs, all.Started, all.Restored, all.Dropped = all.Running+l.Running, all.Outputs+l.Outputs, all.Started+l.Started, all.Restored+l.Restored, all.Dropped+l.Dropped
		}
		if other := follower.Losses("").Losses; !reflect.DeepEqual(list, other) {
			t.Errorf("a follower differs:\n%s", cmp.Diff(list, other))
		}
	})
	if all.Running == 0 || all.Outputs == 0 || all.Started == 0 || all.Dropped == 0 {
		t.Errorf("the commands lose too little: %+v", all)
	}
}
