package sched

import (
	"math"

	"github.com/hammr/hammr/cluster"
)

// A policy may implement the interfaces of this file in addition to Policy. None of
// their methods changes the policy's decisions, except for TransferFrom.

// StaticOrder is a policy in which the slots that jobs have need not decide which job gets the
// next one. So it can give out a slot before the state shows that the attempt in it has ended:
// Decide then gets a view with cluster.View.IsFreeing.
type StaticOrder interface {
	// OrderIsStatic reports whether they do not decide it now.
	OrderIsStatic(now int64) bool
}

// Explainer is a policy that can say why a job has the slots that it has.
type Explainer interface {
	// Explain returns details, shown to users, about a job that is not over.
	Explain(now int64, view View, job *cluster.Job) []Detail
}

// Detail is one line of an explanation: a job's share, its rank, and the like.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// PoolReporter is a policy that divides the cluster among pools.
type PoolReporter interface {
	// Pools returns the pools that jobs can be in, by name: all pools that are configured or
	// have jobs. It returns nil if the policy has no pools with its present settings.
	Pools(now int64, view View) []Pool
}

// PoolsOf returns the pools of a policy; nil if it has none.
func PoolsOf(p Policy, now int64, view View) []Pool {
	if p, ok := p.(PoolReporter); ok {
		return p.Pools(now, view)
	}
	return nil
}

// Pool is the state of a pool: its limits and its current share.
type Pool struct {
	Name       string
	Weight     float64
	Min        cluster.Slots
	Max        cluster.Slots // Unlimited for none
	MaxJobs    int           // limit of running jobs; Unlimited for none
	Order      string        // order of its jobs, such as "fair"
	Share      [2]float64    // fair share, in slots of each kind
	QueuedJobs int           // jobs that wait because of a limit of running jobs
}

// JobLimiter is a policy that limits the slots of a job.
type JobLimiter interface {
	// Limit returns the maximum number of slots that a job may have at a time; Unlimited for
	// a kind without a limit.
	Limit(job *cluster.Job) cluster.Slots
}

// LimitOf returns the maximum number of slots of each kind that a policy gives a job at a time.
func LimitOf(p Policy, job *cluster.Job) cluster.Slots {
	if p, ok := p.(JobLimiter); ok {
		return p.Limit(job)
	}
	return cluster.Slots{Unlimited, Unlimited}
}

// Unlimited is the value of a limit that does not exist.
const Unlimited = math.MaxInt

// WaitClassifier is a policy that knows why jobs with waiting tasks get no slots.
type WaitClassifier interface {
	// WaitClass returns WaitLimit if a limit keeps a job from getting more slots of a kind,
	// WaitShare if its pool uses its fair share and others use theirs, else NotWaiting. The leader
	// calls it each second for each stage that waits, so it must not take the time of a decision.
	WaitClass(job *cluster.Job, kind cluster.Slot) WaitClass
}

// WaitClassOf returns why a policy gives a job no slots of a kind, as far as it knows.
func WaitClassOf(p Policy, job *cluster.Job, kind cluster.Slot) WaitClass {
	if p, ok := p.(WaitClassifier); ok {
		return p.WaitClass(job, kind)
	}
	return NotWaiting
}

// StateTransfer is a policy that can adopt soft state from the policy that it
// replaces, for instance when its settings change.
type StateTransfer interface {
	// TransferFrom adopts values that the replicated state does not contain, such as how
	// long a pool has been below its share. It is called after Reset. A policy of another
	// kind transfers nothing. Either of the two may be wrapped (Wrapper).
	TransferFrom(from Policy)
}

// JobComparer is a policy that can compare the claims of two jobs to a slot. Chronos
// asks the policy that it wraps (its paper, section 4: the priority of jobs).
type JobComparer interface {
	// Precedes reports whether job a has a stronger claim than job b to a slot that b has.
	// Under FIFO it does if a was submitted first; under fair sharing, if a is below its
	// share and b above its share.
	Precedes(now int64, view View, kind cluster.Slot, a, b *cluster.Job) bool
}

// Wrapper is a policy that changes the decisions of another one. It forwards the
// optional interfaces of the wrapped policy.
type Wrapper interface {
	// Unwrap returns the wrapped policy.
	Unwrap() Policy
}

// Innermost returns the policy inside all wrappers. It returns p itself if p is no wrapper.
func Innermost(p Policy) Policy {
	for {
		w, ok := p.(Wrapper)
		if !ok {
			return p
		}
		p = w.Unwrap()
	}
}

// Ranker orders the jobs within a pool. It serves policies that divide the cluster among
// pools and delegate the order within each pool. One Ranker may serve several pools.
//
// Like a policy it is pure: all that it stores between calls is a cache.
type Ranker interface {
	// Reset drops all caches and rebuilds them from the view.
	Reset(now int64, view View)

	// Observe updates the caches after one applied command; view is the state after
	// it.
	Observe(now int64, view View, delta cluster.Delta)

	// Rank returns the order of a queue's jobs at one moment: compare is negative if a slot
	// goes to a rather than to b. No two jobs are equal. compare is called again after each
	// slot, when Running of the job that got the slot has increased.
	Rank(now int64, view View, queue Queue) (compare func(a, b *Claimant) int)
}

// Queue contains the jobs of a pool that want slots of one kind.
type Queue struct {
	Pool  string
	Kind  cluster.Slot
	Slots cluster.Slots // slots of the cluster, by kind
	Share float64       // the pool's fair share of the slots of Kind
	Jobs  []*Claimant
}

// Claimant is a job that wants slots. The counts are slots by kind.
type Claimant struct {
	Job     *cluster.Job
	Running cluster.Slots // slots that it has or is about to get, without those of attempts that were ordered to end
	Demand  cluster.Slots // slots that it could use in total; initially at least Running
	Weight  [2]float64
}
