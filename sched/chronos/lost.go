package chronos

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// note records a task that has to be recovered. Tasks of bundles are left to the wrapped
// policy: they need several slots at once.
func (p *Policy) note(view sched.View, id cluster.TaskID) {
	if _, stage, t, ok := view.Task(id); ok && stage.StartsAlone() && lossOf(t) != nil {
		p.lost[id] = true
	}
}

// lossOf returns the lost attempt because of which a task waits; nil if it does not
// wait, or waits because of a later event.
func lossOf(t *cluster.Task) *cluster.Attempt {
	if t.State != cluster.TaskPending && t.State != cluster.TaskCheckpointed {
		return nil
	}
	for i, a := range slices.Backward(t.Attempts) {
		if !a.Lost() {
			continue
		}
		if slices.ContainsFunc(t.Attempts[i+1:], func(b *cluster.Attempt) bool { return b.StartedAt >= a.EndedAt }) {
			return nil
		}
		return a
	}
	return nil
}

// task is a task to be recovered.
type task struct {
	*cluster.Task
	job           *cluster.Job
	stage         *cluster.Stage
	loss          *cluster.Attempt // the attempt that the task replaces
	lostAt        int64            // when its machine was declared lost, ms since the epoch
	inputMachines []string         // machines with a replica of its input where it may start; nil if all are equal
	avoid         []string         // machines where it does not start
	promise       *promise         // nil if there is none, or if it is void
	hadPromise    bool             // it has had a promise; it gets only one
	grant         *grant           // slot that it gets now; nil for none
	own           *grant           // slot that the wrapped policy gives it; nil for none
	stale         bool             // some attempts that it may preempt have not reported since lostAt
	requested     *promise         // promise of the slot that it preempts now; nil for none
}

// kind returns the kind of slot that the task needs.
func (t *task) kind() cluster.Slot { return t.stage.Slot }

// hasInputOn reports whether a machine has the input of the task. Without inputMachines,
// every machine counts.
func (t *task) hasInputOn(machine string) bool {
	return !slices.Contains(t.avoid, machine) && (t.inputMachines == nil || slices.Contains(t.inputMachines, machine))
}

// recovery is the tasks to be recovered at one moment.
type recovery struct {
	policy *Policy
	now    int64
	view   sched.View
	tasks  []*task // by decreasing priority
	wake   int64   // when to look again although nothing changes, ms; 0 is never

	known map[pair]bool // answers of the wrapped policy
}

// recovery finds the tasks that may start now and have to be recovered. It leaves out tasks
// without a replica of their input.
func (p *Policy) recovery(now int64, view sched.View) *recovery {
	r := &recovery{policy: p, now: now, view: view}
	if len(p.lost) == 0 {
		return r
	}
	r.known = make(map[pair]bool)
	losses := make(map[cluster.AttemptID]bool)
	for id := range p.lost {
		j, stage, t, ok := view.Task(id)
		var loss *cluster.Attempt
		if ok {
			loss = lossOf(t)
		}
		if loss == nil {
			delete(p.lost, id)
			continue
		}
		losses[loss.ID] = true
		if j.Ready(stage) && j.Loaded() {
			r.add(&task{Task: t, job: j, stage: stage, loss: loss})
		}
	}
	for loss := range p.promises {
		if !losses[loss] {
			delete(p.promises, loss)
		}
	}
	r.sort()
	return r
}

// add examines one task: since when it is lost, where it may start, and whether a slot is
// promised to it.
func (r *recovery) add(t *task) {
	t.lostAt = t.loss.EndedAt
	if m := r.view.Machine(t.loss.Machine); m != nil {
		t.lostAt = max(t.lostAt, m.LostAt)
	}
	t.avoid = append(slices.Clone(r.view.Avoided(t.job, r.now)), r.view.FailedOn(t.Task)...)
	if promise := r.policy.promises[t.loss.ID]; promise != nil {
		t.hadPromise = true
		if promise.isValid(r.now, r.view) {
			t.promise = promise
		}
	}
	if !r.settle(t) && t.promise == nil {
		r.policy.status[t.ID] = "no machine that is left has its input"
		return
	}
	r.tasks = append(r.tasks, t)
}

// settle finds the machines that have the input of a task and on which the task may start.
// It reports whether there are any.
func (r *recovery) settle(t *task) bool {
	split, _ := t.job.SplitOf(t.Task)
	if !t.stage.Source || len(split.Hosts) == 0 {
		return true
	}
	t.inputMachines = []string{}
	for _, host := range split.Hosts {
		for _, name := range r.machinesOf(host) {
			if m := r.view.Machine(name); m.TakesTasks() && !slices.Contains(t.avoid, m.Name) && !slices.Contains(t.inputMachines, m.Name) {
				t.inputMachines = append(t.inputMachines, m.Name)
			}
		}
	}
	return len(t.inputMachines) > 0
}

// machinesOf returns the machines that storage knows under the name of a host.
func (r *recovery) machinesOf(host string) []string {
	p := r.policy
	if p.byHost == nil {
		p.byHost = make(map[string][]string)
		for m := range r.view.Machines() {
			for _, name := range m.Hosts {
				p.byHost[name] = append(p.byHost[name], m.Name)
			}
		}
	}
	return p.byHost[host]
}

// sort orders the tasks by decreasing priority; tasks of one job are ordered by stage and
// number. The paper serves high-priority jobs first (section 3.2).
func (r *recovery) sort() {
	var orders [2]order
	for kind := range orders {
		var jobs []*cluster.Job
		for _, t := range r.tasks {
			if int(t.kind()) == kind {
				jobs = append(jobs, t.job)
			}
		}
		orders[kind] = r.orderOf(cluster.Slot(kind), jobs)
	}
	slices.SortFunc(r.tasks, func(a, b *task) int {
		return cmp.Or(
			cmp.Compare(a.kind(), b.kind()),
			orders[a.kind()].compare(a.job, b.job),
			a.ID.Compare(b.ID),
		)
	})
}
