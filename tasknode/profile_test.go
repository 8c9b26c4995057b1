package tasknode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// hello sends the first message of a program that speaks up to a version.
func (f *fakeTask) hello(t *testing.T, newest int32) {
	t.Helper()
	f.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Hello{Hello: &taskproc.Hello{OldestVersion: 1, NewestVersion: newest}}})
}

// profiled is the result of a profile that is taken meanwhile.
type profiled struct {
	data []byte
	err  error
}

// profile takes a profile in the background.
func (b *rig) profile(ctx context.Context, id string, q profile.Query) <-chan profiled {
	done := make(chan profiled, 1)
	go func() {
		data, err := b.daemon.Profile(ctx, id, q)
		done <- profiled{data, err}
	}()
	synctest.Wait()
	return done
}

// refusedWith fails the test unless a profile was refused with a text.
func refusedWith(t *testing.T, got profiled, text string) {
	t.Helper()
	if !errors.As(got.err, new(profile.Refusal)) || !strings.Contains(got.err.Error(), text) || got.data != nil {
		t.Errorf("%d bytes, %v; want a refusal with %q", len(got.data), got.err, text)
	}
}

func result(number uint64, data, refusal string) *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_ProfileResult{ProfileResult: &taskproc.ProfileResult{Number: number, Data: []byte(data), Refusal: refusal}}}
}

var cpu = profile.Query{Kind: profile.CPU, Seconds: 10}

// TestProfile takes profiles of a task, one at a time. The task reports its progress meanwhile.
func TestProfile(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		task.hello(t, taskproc.ProfileVersion)
		done := b.profile(b.t.Context(), attemptID, cpu)
		order := task.receive(t).GetProfile()
		if order.GetKind() != "cpu" || order.GetSeconds() != 10 || order.GetNumber() == 0 {
			t.Fatalf("order %v", order)
		}
		refusedWith(t, <-b.profile(b.t.Context(), attemptID, cpu), "another one is being taken")
		pass(9 * time.Second)
		task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: &taskproc.Progress{Fraction: .5}}})
		if r := <-b.reports; r.GetProgress().GetFraction() != .5 {
			t.Errorf("report %v", r)
		}
		task.send(t, result(order.Number+1, "of an earlier order", ""))
		task.send(t, result(order.Number, "profile", ""))
		if got := <-done; got.err != nil || string(got.data) != "profile" {
			t.Errorf("%q, %v", got.data, got.err)
		}

		done = b.profile(b.t.Context(), attemptID, profile.Query{Kind: profile.Stacks})
		second := task.receive(t).GetProfile()
		if second.GetNumber() == order.Number {
			t.Error("two orders have the same number")
		}
		task.send(t, result(second.GetNumber(), "", "the program takes one of itself"))
		refusedWith(t, <-done, "the program takes one of itself")
		refusedWith(t, <-b.profile(b.t.Context(), "attempt_1_0001_m_000009_0", cpu), "does not run on tasknode n")

		task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: new(taskproc.Finished)}})
		task.send(t, result(second.GetNumber(), "late", "")) // not its last message
		task.end(nil)
		if r := <-b.reports; r.GetFinished() == nil {
			t.Errorf("report %v", r)
		}
	})
}

// TestProgramsThatCannotProfile orders nothing from an older program, which would not answer, and
// waits for no program that does not answer.
func TestProgramsThatCannotProfile(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		refusedWith(t, <-b.profile(b.t.Context(), attemptID, cpu), "is starting")
		task.hello(t, taskproc.ProfileVersion-1)
		refusedWith(t, <-b.profile(b.t.Context(), attemptID, cpu), "older release")
		task.end(nil)
		<-b.reports
	})
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		task.hello(t, taskproc.ProfileVersion)
		began := time.Now()
		done := b.profile(b.t.Context(), attemptID, cpu)
		task.receive(t)
		refusedWith(t, <-done, "has not answered within 20s")
		if d := time.Since(began); d != 20*time.Second {
			t.Errorf("refused after %v", d)
		}
		ctx, cancel := context.WithCancel(b.t.Context())
		done = b.profile(ctx, attemptID, cpu)
		task.receive(t)
		cancel()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Errorf("the caller has gone: %v", got.err)
		}
		done = b.profile(b.t.Context(), attemptID, cpu)
		task.receive(t)
		task.end(nil)
		refusedWith(t, <-done, "ended before the profile was complete")
		<-b.reports
	})
}

// TestSuspendedTaskIsNotProfiled suspends a task before and during a profile.
func TestSuspendedTaskIsNotProfiled(t *testing.T) {
	withSuspendableTasks(t, nil, func(b *suspendRig, task *fakeTask) {
		task.hello(t, taskproc.ProfileVersion)
		done := b.profile(b.t.Context(), attemptID, cpu)
		order := task.receive(t).GetProfile()
		b.suspend()
		task.receive(t)
		task.send(t, suspendReady(1))
		refusedWith(t, <-done, "was suspended before")
		refusedWith(t, <-b.profile(b.t.Context(), attemptID, cpu), "resume it first")
		b.resume()
		task.receive(t)
		task.send(t, result(order.GetNumber(), "too late", ""))
		done = b.profile(b.t.Context(), attemptID, cpu)
		task.send(t, result(task.receive(t).GetProfile().GetNumber(), "in time", ""))
		if got := <-done; string(got.data) != "in time" {
			t.Errorf("%q, %v", got.data, got.err)
		}
		task.end(nil)
		<-b.reports
	})
}
