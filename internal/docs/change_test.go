package docs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
)

// recorder is a cluster that notes what is changed. Jobs are over whose ids end in 9.
type recorder struct{ calls []string }

func (r *recorder) note(format string, args ...any) error {
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
	return nil
}

func (r *recorder) Job(_ context.Context, id string, _ bool) (*wire.JobStatus, error) {
	s := &wire.JobStatus{JobId: id, State: wire.JobState_RUNNING}
	if strings.HasSuffix(id, "9") {
		s.State = wire.JobState_FAILED
	}
	return s, nil
}
func (r *recorder) Kill(_ context.Context, job, cause string) error {
	return r.note("kill %s: %s", job, cause)
}
func (r *recorder) SuspendJob(_ context.Context, job string, mode preempt.Mode) error {
	return r.note("suspend %s %s", job, mode)
}
func (r *recorder) ResumeJob(_ context.Context, job string) error { return r.note("resume %s", job) }
func (r *recorder) MoveJob(_ context.Context, job, pool string) error {
	return r.note("move %s to %s", job, pool)
}
func (r *recorder) SetPriority(_ context.Context, job string, priority int) error {
	return r.note("priority %s %d", job, priority)
}
func (r *recorder) EndAttempt(_ context.Context, attempt string, fail bool) error {
	return r.note("end %s, failed %v", attempt, fail)
}
func (r *recorder) PreemptAttempt(_ context.Context, attempt string, mode preempt.Mode) (preempt.Mode, error) {
	return preempt.Split, r.note("preempt %s %s", attempt, mode)
}
func (r *recorder) ResumeAttempt(_ context.Context, attempt string) error {
	return r.note("resume %s", attempt)
}
func (r *recorder) AdmitTasknode(_ context.Context, name string, excluded bool) error {
	return r.note("exclude %s: %v", name, excluded)
}
func (r *recorder) DrainTasknode(_ context.Context, name string, untilRestart bool, within time.Duration) error {
	return r.note("drain %s, until restart %v, within %v", name, untilRestart, within)
}
func (r *recorder) SetSlots(_ context.Context, tasknode string, slots cluster.Slots) error {
	return r.note("slots of %s %v", tasknode, slots)
}
func (r *recorder) ChangePolicy(_ context.Context, name string, conf map[string]string, expected string) error {
	return r.note("policy %s %v for %s", name, conf, expected)
}
func (r *recorder) AddMaster(id, address string) error {
	return r.note("add %s at %s", id, address)
}
func (r *recorder) RemoveMaster(id string) error { return r.note("remove %s", id) }
func (r *recorder) TransferLeadership(id string) error {
	return r.note("transfer to %s", id)
}

// TestEachActionIsApplied makes every change of the table.
func TestEachActionIsApplied(t *testing.T) {
	cases := map[string]struct {
		change   Change
		call, to string
	}{
		"job.kill":        {Change{User: "ada"}, "kill x: killed by ada", ""},
		"job.suspend":     {Change{}, "suspend x auto", ""},
		"job.resume":      {Change{}, "resume x", ""},
		"job.move":        {Change{Value: "p"}, "move x to p", "p"},
		"job.priority":    {Change{Value: "very_high"}, "priority x 2", "VERY_HIGH"},
		"attempt.kill":    {Change{}, "end x, failed false", ""},
		"attempt.fail":    {Change{}, "end x, failed true", ""},
		"attempt.preempt": {Change{Value: "auto"}, "preempt x auto", "split"},
		"attempt.resume":  {Change{}, "resume x", ""},
		"node.drain":      {Change{Value: "10m", UntilRestart: true}, "drain x, until restart true, within 10m0s", "10m"},
		"node.admit":      {Change{}, "exclude x: false", ""},
		"node.set":        {Change{Value: "reduce=2, map=0"}, "slots of x 2 reduce", "reduce=2, map=0"},
		"node.exclude":    {Change{}, "exclude x: true", ""},
		"master.transfer": {Change{}, "transfer to x", ""},
		"master.remove":   {Change{}, "remove x", ""},
		"master.add":      {Change{Value: "h:1"}, "add x at h:1", "h:1"},
		"policy.set":      {Change{Conf: map[string]string{"a": "b"}, Expected: "f"}, "policy x map[a:b] for f", ""},
	}
	for _, a := range Actions {
		c, r := cases[a.Object+"."+a.Do], new(recorder)
		c.change.Do, c.change.ID = a.Object+"."+a.Do, "x"
		done, err := Apply(t.Context(), r, c.change)
		if err != nil || len(r.calls) != 1 || r.calls[0] != c.call || done.To != c.to || done.Done != a.Done || done.ID != "x" {
			t.Errorf("%s: %q, %+v, %v, want %q", c.change.Do, r.calls, done, err, c.call)
		}
	}
	if len(cases) != len(Actions) {
		t.Errorf("%d cases for %d actions", len(cases), len(Actions))
	}
}

// TestSlotsAreParsed parses what users write, and mistakes.
func TestSlotsAreParsed(t *testing.T) {
	for text, want := range map[string]cluster.Slots{"map=4": {4, -1}, "reduce=0": {-1, 0}, "map=10000,reduce=1": {10_000, 1}} {
		if got, err := ParseSlots(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"": "expected map=N", "4": "expected map=N", "map=4,map=5": "expected map=N", "maps=4": "expected map=N", "map=-1": "from 0 to 10000",
		"map=10001": "from 0 to 10000", "map=4,": "expected map=N", "map=0,reduce=0": "'hammr node remove' or 'hammr node drain'",
	} {
		if _, err := ParseSlots(text); err == nil || !strings.Contains(err.Error(), says) || !errors.As(err, new(*BadParam)) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWrongChangesAreRefused sends changes that no page sends.
func TestWrongChangesAreRefused(t *testing.T) {
	for text, c := range map[string]Change{
		"no such change":            {Do: "job.praise", ID: "x"},
		"expected one of auto":      {Do: "job.suspend", ID: "x", Value: "melt"},
		"parameter pool is missing": {Do: "job.move", ID: "x"},
		"is over already":           {Do: "job.kill", ID: "job_9"},
		"expected map=N,reduce=N":   {Do: "node.set", ID: "x", Value: "many"},
	} {
		r := new(recorder)
		_, err := Apply(t.Context(), r, c)
		if err == nil || !strings.Contains(err.Error(), text) || len(r.calls) > 0 {
			t.Errorf("%+v: %v, calls %q, want %q", c, err, r.calls, text)
		}
		if bad := new(BadParam); !errors.As(err, &bad) && !errors.Is(err, ErrRefused) {
			t.Errorf("%+v: the error %v has no class", c, err)
		}
	}
}
