package server_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc/wire"
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
		_, err := c.Change(ctx, wire.NewChange("attempt.preempt", id, mode))
		return err
	}
	check := func(what string, err, kind error, says string) {
		t.Helper()
		if (err == nil) != (kind == nil && says == "") || kind != nil && !errors.Is(err, kind) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %v with %q", what, err, kind, says)
		}
	}
	check("a mode that suspends no job", preempt(attempt, "melt"), nil, `"melt"`)
	check("an attempt that is none", preempt("nonsense", "kill"), client.ErrUnknown, "nonsense")
	check("an attempt that is not there", preempt("attempt_1_0001_m_000000_0", "kill"), client.ErrUnknown, "m_000000_0")
	check("resuming what runs", client.Change(ctx, c, "attempt.resume", attempt, ""), client.ErrRefused, "is not suspended")
	check("kill", preempt(attempt, "kill"), nil, "")
	check("what has ended", preempt(attempt, "kill"), client.ErrRefused, "does not run")
	if again := <-l.started; again == attempt {
		t.Errorf("%s runs again", again)
	}

	check("resuming a job that runs", client.Change(ctx, c, "job.resume", id, ""), client.ErrRefused, "is not suspended")
	check("suspending it by a mode that suspends no job", client.Change(ctx, c, "job.suspend", id, "melt"), nil, `"melt"`)
	check("suspending no job", client.Change(ctx, c, "job.suspend", "job_1_0001", "auto"), client.ErrUnknown, "")
	check("suspending it", client.Change(ctx, c, "job.suspend", id, "checkpoint"), nil, "")
	check("suspending it twice", client.Change(ctx, c, "job.suspend", id, "auto"), client.ErrRefused, "suspended already")
	check("resuming it", client.Change(ctx, c, "job.resume", id, ""), nil, "")
	check("resuming no job", client.Change(ctx, c, "job.resume", "nonsense", ""), client.ErrUnknown, "")

	check("draining nobody", client.Change(ctx, c, "node.drain", "n9", ""), client.ErrUnknown, "n9")
	check("draining the last one", client.Change(ctx, c, "node.drain", "n1", ""), client.ErrRefused, "no other tasknode takes tasks")
}
