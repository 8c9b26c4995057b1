package chronos

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/victim"
)

// candidate is a running attempt that has a slot, with the values that the choice depends
// on.
type candidate struct {
	attempt  *cluster.Attempt
	job      *cluster.Job
	progress sched.Progress // zero if unknown
	written  int64          // bytes on its machine of the input of the task to be recovered
}

// victimSearch looks for attempts to preempt, for the tasks of one decision. It caches
// values that all tasks of a stage share.
type victimSearch struct {
	*recovery
	finder        victim.Finder               // chooses the mode in which a victim loses its slot
	all           map[string][]*candidate     // by machine
	alike         map[source][]*candidate     // for tasks of a stage without inputMachines
	orders        [2]order                    // by kind of slot
	preempted     map[cluster.AttemptID]bool  // attempts preempted already
	preemptedJobs map[cluster.JobID]bool      // jobs that have lost an attempt already
	written       map[source]map[string]int64 // bytes by machine, for stages without inputMachines
}

// source names a stage whose input is the output of other stages.
type source struct {
	job   cluster.JobID
	stage string
}

// victimSearch starts a search for victims. It leaves out attempts that the plan preempts
// already.
func (r *recovery) victimSearch(plan *sched.Plan) *victimSearch {
	h := &victimSearch{
		recovery:      r,
		finder:        victim.Finder{Now: r.now, View: r.view, Preempt: r.policy.conf.Preempt, Urgent: true},
		all:           make(map[string][]*candidate),
		alike:         make(map[source][]*candidate),
		preempted:     make(map[cluster.AttemptID]bool),
		preemptedJobs: make(map[cluster.JobID]bool),
		written:       make(map[source]map[string]int64),
	}
	for _, p := range plan.Preempts {
		h.preempted[p.Attempt] = true
	}
	return h
}

// on returns the candidates on a machine.
func (h *victimSearch) on(machine string) []*candidate {
	found, known := h.all[machine]
	if known {
		return found
	}
	if m := h.view.Machine(machine); m != nil && m.TakesTasks() {
		for _, a := range m.Attempts {
			if c := h.candidate(a); c != nil {
				found = append(found, c)
			}
		}
	}
	h.all[machine], h.orders = found, [2]order{} // the jobs on the machine have no place yet
	return found
}

// candidate returns the candidate for an attempt; nil if the attempt must not be preempted.
func (h *victimSearch) candidate(a *cluster.Attempt) *candidate {
	j, stage, _, ok := h.view.Task(a.ID.Task)
	if !ok || !stage.StartsAlone() || j.State != cluster.JobRunning || h.preempted[a.ID] ||
		a.State != cluster.AttemptRunning {
		return nil
	}
	c := &candidate{attempt: a, job: j}
	c.progress, _ = h.view.Progress(a.ID)
	return c
}

// near returns the candidates for a task near its input. Tasks of a stage without
// inputMachines share a list.
func (h *victimSearch) near(t *task) []*candidate {
	if h.never(t.kind()) || t.job.Spec.Passive {
		return nil
	}
	alike := t.inputMachines == nil && len(t.avoid) == 0
	key := source{t.job.ID, t.stage.Code}
	near, known := h.alike[key]
	if known && alike {
		return near
	}
	near = h.searchNear(t)
	if alike {
		h.alike[key] = near
	}
	return near
}

// far returns the candidates for a task on all machines.
func (h *victimSearch) far(t *task) []*candidate {
	anywhere := *t
	anywhere.inputMachines = nil
	return h.near(&anywhere)
}

// searchNear returns the candidates for a task, machine by machine, each with the bytes of
// the task's input on its machine. It searches the machines with the task's input or,
// without inputMachines, all machines.
func (h *victimSearch) searchNear(t *task) (near []*candidate) {
	add := func(machine string) {
		if !t.hasInputOn(machine) {
			return
		}
		for _, c := range h.on(machine) {
			if c.attempt.Slot == t.kind() && h.mayPreempt(t, c) {
				near = append(near, c)
			}
		}
	}
	for _, machine := range t.inputMachines {
		add(machine)
	}
	if t.inputMachines != nil {
		return near
	}
	written := h.writtenFor(t)
	for m := range h.view.Machines() {
		first := len(near)
		add(m.Name)
		for i, c := range near[first:] {
			c := *c // copy the candidate, since tasks of other stages read other input
			c.written = written[m.Name]
			near[first+i] = &c
		}
	}
	return near
}

// never reports whether the mode for a kind of slot is wait, so that no slots of the kind
// are taken.
func (h *victimSearch) never(kind cluster.Slot) bool {
	config := h.policy.conf.Preempt
	return [...]preempt.Mode{config.Map, config.Reduce}[kind] == preempt.Wait
}

// mayPreempt reports whether the job of a task takes precedence over that of an attempt.
// Within a job only Chronos* preempts (section 6.8).
func (h *victimSearch) mayPreempt(t *task, c *candidate) bool {
	if c.job == t.job {
		return h.policy.conf.SameJob
	}
	return h.precedes(t.kind(), t.job, c.job)
}

// writtenFor returns how many bytes of the input of a task each machine holds, as
// output of other tasks.
func (h *victimSearch) writtenFor(t *task) map[string]int64 {
	key := source{t.job.ID, t.stage.Code}
	sum, known := h.written[key]
	if known {
		return sum
	}
	sum = make(map[string]int64)
	for up := range t.stage.Upstream() {
		for _, writer := range up.Tasks {
			if writer.Winner != nil && writer.Output != nil && !up.Stored {
				sum[writer.Winner.Machine] += writer.Output.Bytes
			}
		}
	}
	h.written[key] = sum
	return sum
}

// look sets stale if an attempt that a task may preempt has not reported since the task was
// lost.
func (h *victimSearch) look(t *task) { t.stale = h.anyStale(t, h.near(t)) }

// anyStale reports whether an attempt that may still be preempted has not reported since
// the task was lost: its progress is not known well enough to choose.
func (h *victimSearch) anyStale(t *task, among []*candidate) bool {
	return slices.ContainsFunc(among, func(c *candidate) bool { return c.progress.ReportedAt <= t.lostAt && !h.preempted[c.attempt.ID] })
}

// choose preempts an attempt for a task: an attempt near its input or, if none of these may
// be preempted, any other attempt.
func (h *victimSearch) choose(t *task) (taken sched.Preempt, again bool) {
	taken, again = h.chooseAmong(t, h.near(t))
	if t.inputMachines == nil || again || taken.Attempt != (cluster.AttemptID{}) {
		return taken, again
	}
	far := h.far(t)
	t.stale = t.stale || h.anyStale(t, far)
	return h.chooseAmong(t, far)
}

// chooseAmong applies Algorithm 1 of the paper to one task. It preempts an attempt of the
// job with the lowest priority, and of its attempts the one that comes first by
// compareCandidates. It preempts one attempt of a job at a time, since one may be enough for
// the policy's objective; again reports that it stopped for this reason.
func (h *victimSearch) chooseAmong(t *task, among []*candidate) (taken sched.Preempt, again bool) {
	fresh := slices.DeleteFunc(slices.Clone(among), func(c *candidate) bool {
		return c.progress.ReportedAt <= t.lostAt || h.preempted[c.attempt.ID]
	})
	if len(fresh) == 0 {
		return taken, false
	}
	slices.SortFunc(fresh, h.compareCandidates(h.order(t.kind())))
	for _, c := range fresh {
		if h.preemptedJobs[c.job.ID] {
			return taken, true
		}
		cause := fmt.Sprintf("%v, which was lost with %s, needs the slot", t.ID, t.loss.Machine)
		if taken, ok := h.finder.Take(victim.Victim{Attempt: c.attempt.ID}, cause); ok {
			taken.For = t.ID.Job
			h.preempted[taken.Attempt], h.preemptedJobs[c.job.ID] = true, true
			return taken, false
		}
	}
	return taken, false
}

// order returns the priority of the jobs of all candidates found so far.
func (h *victimSearch) order(kind cluster.Slot) order {
	if h.orders[kind].place == nil {
		var jobs []*cluster.Job
		for _, found := range h.all {
			for _, c := range found {
				jobs = append(jobs, c.job)
			}
		}
		h.orders[kind] = h.orderOf(kind, jobs)
	}
	return h.orders[kind]
}

// compareCandidates returns the order in which candidates are preempted: the job of the
// lowest priority first and, of its attempts, the one that has done least. With
// Config.PriorityOnly the order of tasks decides instead.
func (h *victimSearch) compareCandidates(o order) func(a, b *candidate) int {
	return func(a, b *candidate) int {
		work := 0
		if !h.policy.conf.PriorityOnly {
			work = cmp.Or(-cmp.Compare(a.written, b.written), cmp.Compare(a.progress.Fraction, b.progress.Fraction))
		}
		return cmp.Or(-o.compare(a.job, b.job), h.finder.Order(a.attempt.ID, b.attempt.ID), work, a.attempt.ID.Compare(b.attempt.ID))
	}
}
