package chronos

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// note remembers a task if it has to be recovered.
func (p *Policy) note(view sched.View, id cluster.TaskID) {
	if _, stage, t, ok := view.Task(id); ok && stage.StartsAlone() && lossOf(t) != nil {
		p.lost[id] = true
	}
}

// lossOf is the lost attempt because of which a task waits; nil when it does not
// wait, or waits because of something that came later.
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

// task is one that is to be recovered.
type task struct {
	*cluster.Task
	job     *cluster.Job
	stage   *cluster.Stage
	loss    *cluster.Attempt
	lostAt  int64    // when its machine was given up, ms since the epoch
	homes   []string // machines with a replica of its input, where it may start; nil when all are as good
	avoid   []string // machines where it does not start
	promise *promise // nil when there is none, or when it is void
	spent   bool     // it has had a promise
	grant   *grant   // slot that it gets now; nil for none
	own     *grant   // slot that the policy inside gives it; nil for none
	stale   bool     // some of the attempts that it may preempt have not been heard of since lostAt
	asked   *promise // that it is to get, since it preempts something now; nil for none
}

// kind is that of the slot it needs.
func (t *task) kind() cluster.Slot { return t.stage.Slot }

// isHome reports whether the input of the task is on a machine, or everywhere.
func (t *task) isHome(machine string) bool {
	return !slices.Contains(t.avoid, machine) && (t.homes == nil || slices.Contains(t.homes, machine))
}

// recovery is one look at what is to be recovered.
type recovery struct {
	policy *Policy
	now    int64
	view   sched.View
	tasks  []*task // of decreasing priority
	wake   int64

	known map[pair]bool
}

// recovery looks at the tasks that may start now and have to be recovered. Those of
// whose input no replica is left are not among them.
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

// add looks at one task.
func (r *recovery) add(t *task) {
	t.lostAt = t.loss.EndedAt
	if m := r.view.Machine(t.loss.Machine); m != nil {
		t.lostAt = max(t.lostAt, m.LostAt)
	}
	t.avoid = append(slices.Clone(r.view.Avoided(t.job, r.now)), r.view.FailedOn(t.Task)...)
	if promise := r.policy.promises[t.loss.ID]; promise != nil {
		t.spent = true
		if promise.holds(r.now, r.view) {
			t.promise = promise
		}
	}
	if !r.settle(t) && t.promise == nil {
		r.policy.tell(t, "no machine that is left has its input")
		return
	}
	r.tasks = append(r.tasks, t)
}

// settle finds where a task is at home, and reports whether that is anywhere.
func (r *recovery) settle(t *task) bool {
	split, _ := t.job.SplitOf(t.Task)
	if !t.stage.Source || len(split.Hosts) == 0 {
		return true
	}
	t.homes = []string{}
	for _, host := range split.Hosts {
		for _, name := range r.machinesOf(host) {
			if m := r.view.Machine(name); !m.Lost && !m.Excluded && !slices.Contains(t.avoid, m.Name) && !slices.Contains(t.homes, m.Name) {
				t.homes = append(t.homes, m.Name)
			}
		}
	}
	return len(t.homes) > 0
}

// machinesOf are those that storage knows under the name of a host.
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

// sort puts the tasks in order of decreasing priority: those of one job by stage
// and number.
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
