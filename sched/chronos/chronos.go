package chronos

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
)

// Config configures the policy. The zero value kills what it preempts.
type Config struct {
	// Inner is the wrapped policy, which allocates the slots; required.
	Inner sched.Policy

	// Preempt contains the modes in which slots are taken. The paper splits maps and
	// checkpoints reduces.
	Preempt preempt.Config

	// Racks is the operator's table of racks by name or address of a host.
	Racks map[string]string

	// Wait is how long after a failure Chronos waits for fresh progress reports of
	// running attempts, in ms; default 1500.
	Wait int64

	// Reserve is how long a slot is promised to a task, in ms; default 15,000.
	Reserve int64

	// SameJob lets tasks preempt others of their own job too, in order to run where
	// their input is (Chronos*, section 6.8).
	SameJob bool

	// PriorityOnly chooses the victims as Algorithm 1 is printed: by the priority of their
	// jobs and, in a job, in the order of its tasks, so the ones that have run longest come
	// first. By default the attempt that has done least is preempted first.
	PriorityOnly bool
}

// Defaults of Config, in ms.
const (
	DefaultWait    = 1500
	DefaultReserve = 15_000
)

// Policy is Chronos around another policy. Its Decide calls the Decide of the wrapped
// policy, and then rearranges the slots for tasks to be recovered:
//
//	machine is lost ──► wait for fresh heartbeats ──► free slot near the input? take it
//	                    (at most Config.Wait)             │ no
//	                                                      ▼
//	                    promise: the slot is reserved ◄── preempt an attempt (Algorithm 1)
//	                    for Config.Reserve                of a job with lower priority
type Policy struct {
	conf     Config
	comparer sched.JobComparer // the wrapped policy, or submission
	wake     int64             // when Decide may find more although nothing changes, ms; 0 is never

	lost      map[cluster.TaskID]bool        // a superset of the tasks to be recovered
	promises  map[cluster.AttemptID]*promise // by the lost attempt that they replace
	requested map[cluster.AttemptID]*promise // promises of the latest plan, by the attempt that each preempts
	status    map[cluster.TaskID]string      // status of the tasks that the latest plan could not start

	// Both are nil if the machines have changed.
	topology *locality.Topology
	byHost   map[string][]string // names of machines
}

// New wraps a policy. Call Reset before any other method. If the wrapped policy defines no
// order of jobs, the order of submission is used.
func New(conf Config) *Policy {
	if conf.Wait <= 0 {
		conf.Wait = DefaultWait
	}
	if conf.Reserve <= 0 {
		conf.Reserve = DefaultReserve
	}
	p := &Policy{conf: conf}
	p.comparer, _ = conf.Inner.(sched.JobComparer)
	if p.comparer == nil {
		p.comparer = submission{}
	}
	return p
}

// Reset implements sched.Policy.
func (p *Policy) Reset(now int64, view sched.View) {
	p.conf.Inner.Reset(now, view)
	p.lost = make(map[cluster.TaskID]bool)
	p.promises = make(map[cluster.AttemptID]*promise)
	p.requested, p.status, p.topology, p.byHost = nil, make(map[cluster.TaskID]string), nil, nil
	for j := range view.Jobs() {
		for _, stage := range j.Stages {
			for t := range stage.Pending() {
				p.note(view, t.ID)
			}
		}
	}
	p.infer(now, view)
}

// Observe implements sched.Policy.
func (p *Policy) Observe(now int64, view sched.View, delta cluster.Delta) {
	p.conf.Inner.Observe(now, view, delta)
	for _, id := range slices.Concat(delta.Ended, delta.Revoked) {
		p.note(view, id.Task)
	}
	for _, id := range slices.Concat(delta.OrdersChanged, delta.Ended) {
		p.confirm(now, view, id)
	}
	if len(delta.Machines) > 0 {
		p.topology, p.byHost = nil, nil
		p.breakPromises(now, view)
	}
}

// NextWake implements sched.Policy: in addition to what the wrapped policy waits for,
// progress reports may arrive and promises end.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) sched.Plan {
	plan := p.conf.Inner.Decide(now, view)
	p.wake = p.conf.Inner.NextWake()
	p.requested, p.status = make(map[cluster.AttemptID]*promise), make(map[cluster.TaskID]string)
	r := p.recovery(now, view)
	if len(r.tasks) > 0 {
		r.run(&plan)
		p.wake = sched.Earliest(p.wake, r.wake)
	}
	return plan
}
