package web

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/apidoc"
)

// SampleSource has what a master counts beside the state: the use of slots over time, and preemptions.
type SampleSource interface {
	// Preemptions returns the preemptions from and for a pool, or all if pool is "".
	Preemptions(ctx context.Context, pool string) (Answer[apidoc.PreemptionLedger], error)
	// Samples returns samples of the last 24 hours.
	Samples(ctx context.Context, q SampleQuery) (Answer[apidoc.Samples], error)
}

// SampleQuery selects samples.
type SampleQuery struct {
	Pool string // a pool, or AllSeries; "" for the whole cluster
	From int64  // ms since the epoch
	Step int64  // ms; rounded up to an interval that the master keeps
}

// AllSeries selects the samples of the cluster and of all pools. It is not the name of a pool.
const AllSeries = "*"

// SchedulerSource has what the scheduler does and would do.
type SchedulerSource interface {
	// PreviewPolicy returns what a policy would do now. It changes nothing.
	PreviewPolicy(ctx context.Context, c PolicyChange) (Answer[apidoc.PolicyPreview], error)
	// SetPolicy replaces the policy and all of its settings. The error wraps ErrRefused for wrong
	// settings, and if the present policy is not the expected one.
	SetPolicy(ctx context.Context, c PolicyChange) (apidoc.Change, error)
	// Decisions returns the latest decisions of the leader that match.
	Decisions(ctx context.Context, q DecisionQuery) (Answer[apidoc.Decisions], error)
}

// PolicyChange replaces the policy.
type PolicyChange struct {
	Policy   string
	Conf     map[string]string
	Expected string // Fingerprint of the apidoc.Policy that is replaced; "" for any
	User     string // who changes it; "" if unknown
}

// DecisionQuery selects decisions. Each field that is not zero must match.
type DecisionQuery struct {
	Job    string
	Pool   string // of the job, or the pool that gets the slot
	Node   string
	Kind   string
	Before uint64 // only decisions with a lower number
	Limit  int
}

// NoSamples is the SampleSource of a program that has no samples.
type NoSamples struct{}

var _ SampleSource = NoSamples{}

// Samples implements SampleSource.
func (NoSamples) Samples(context.Context, SampleQuery) (a Answer[apidoc.Samples], err error) {
	return a, fmt.Errorf("this server keeps no samples: %w", ErrUnavailable)
}

// Preemptions implements SampleSource.
func (NoSamples) Preemptions(context.Context, string) (a Answer[apidoc.PreemptionLedger], err error) {
	return a, fmt.Errorf("this server counts no preemptions of a cluster; the page of a job has those of the job: %w", ErrUnavailable)
}

// NoScheduler is the SchedulerSource of a program whose policy cannot be changed.
type NoScheduler struct{}

var _ SchedulerSource = NoScheduler{}

// PreviewPolicy implements SchedulerSource.
func (NoScheduler) PreviewPolicy(context.Context, PolicyChange) (a Answer[apidoc.PolicyPreview], err error) {
	return a, errNoScheduler
}

// SetPolicy implements SchedulerSource.
func (NoScheduler) SetPolicy(context.Context, PolicyChange) (c apidoc.Change, err error) {
	return c, errNoScheduler
}

// Decisions implements SchedulerSource.
func (NoScheduler) Decisions(context.Context, DecisionQuery) (a Answer[apidoc.Decisions], err error) {
	return Answer[apidoc.Decisions]{Value: apidoc.Decisions{Decisions: []apidoc.Decision{}}}, nil
}

var errNoScheduler = fmt.Errorf("the policy cannot be changed here: %w", ErrRefused)
