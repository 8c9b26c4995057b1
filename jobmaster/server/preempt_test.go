package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/client"
)

// TestPreemptionOnDemand preempts over the network and checks that refusals keep their
// class and text.
func TestPreemptionOnDemand(t *testing.T) {
	r := newRig(t, 1)
	l := &launcher{release: make(chan struct{}), started: make(chan string, 10)}
	r.node("n1", l)
	c, ctx := r.client(), t.Context()
	id := submit(t, c, 1, 0)
	attempt := <-l.started
	preempt := func(id, mode string) error {
		_, err := c.PreemptAttempt(ctx, id, mode)
		return err
	}
	check := func(what string, err, kind error, says string) {
		t.Helper()
		if (err == nil) != (kind == nil && says == "") || kind != nil && !errors.Is(err, kind) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %v with %q", what, err, kind, says)
		}
	}
	check("a mode that suspends no job", preempt(attempt, "melt"), nil, `unknown mode "melt"`)
	check("an attempt that is none", preempt("nonsense", "kill"), client.ErrUnknown, "nonsense")
	check("an attempt that is not there", preempt("attempt_1_0001_m_000000_0", "kill"), client.ErrUnknown, "m_000000_0")
	check("resuming what runs", c.ResumeAttempt(ctx, attempt), client.ErrRefused, "is not suspended")
	check("kill", preempt(attempt, "kill"), nil, "")
	check("what has ended", preempt(attempt, "kill"), client.ErrRefused, "does not run")
	if again := <-l.started; again == attempt {
		t.Errorf("%s runs again", again)
	}

	check("resuming a job that runs", c.ResumeJob(ctx, id), client.ErrRefused, "is not suspended")
	check("suspending it by a mode that suspends no job", c.SuspendJob(ctx, id, "melt"), client.ErrRefused, `"melt"`)
	check("suspending no job", c.SuspendJob(ctx, "job_1_0001", "auto"), client.ErrUnknownJob, "")
	check("suspending it", c.SuspendJob(ctx, id, "checkpoint"), nil, "")
	check("suspending it twice", c.SuspendJob(ctx, id, "auto"), client.ErrRefused, "suspended already")
	check("resuming it", c.ResumeJob(ctx, id), nil, "")
	check("resuming no job", c.ResumeJob(ctx, "nonsense"), client.ErrUnknownJob, "")

	check("draining nobody", c.DrainTasknode(ctx, "n9", false, 0), client.ErrUnknown, "n9")
	check("draining the last one", c.DrainTasknode(ctx, "n1", false, 0), client.ErrRefused, "no other tasknode takes tasks")
}
