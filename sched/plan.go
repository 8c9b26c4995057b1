package sched

import (
	"iter"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Plan is the decision of a policy for this moment. Each task occurs in it at most once, and
// all starts and resumes together take no more slots of a machine than are free.
type Plan struct {
	// Preempts takes slots away, each attempt at most once. The task for which a slot is
	// taken starts in a later plan, when the slot is free.
	Preempts []Preempt

	Resumes       []cluster.AttemptID // suspended attempts that get a slot of their machine again
	BundleResumes []BundleResume      // suspended bundles, each as a whole

	Starts  []Start       // tasks that start alone
	Bundles []BundleStart // bundles, each as a whole; their tasks are not in Starts

	// Deferred are stages with tasks for which slots are free and that wait all the same, in order of
	// jobs and stages. Only stages that wait for machines near their input are among them.
	Deferred []StageWait

	// Decisions are the offers of a placement round and the shares that the policy computed;
	// only for a View with Trace. A policy lists all decisions each time, and its caller
	// drops unchanged decisions. Launches, resumes and preemptions are not among them, since
	// they follow from the plan.
	Decisions []Decision
}

// AllStarts yields every start of the plan: first for tasks that start alone, then for
// bundles.
func (p Plan) AllStarts() iter.Seq[Start] {
	return func(yield func(Start) bool) {
		for _, s := range p.Starts {
			if !yield(s) {
				return
			}
		}
		for _, b := range p.Bundles {
			for _, s := range b.Starts {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// AllResumes yields every attempt that the plan resumes: first single attempts, then
// attempts of bundles.
func (p Plan) AllResumes() iter.Seq[cluster.AttemptID] {
	return func(yield func(cluster.AttemptID) bool) {
		for _, id := range p.Resumes {
			if !yield(id) {
				return
			}
		}
		for _, b := range p.BundleResumes {
			for _, id := range b.Attempts {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// Commands returns the commands that carry the plan out, in an order in which the state
// accepts them: slots are taken away before they are given out. Tasks of a job whose splits
// are not loaded on this master cannot start yet; they wait for a later plan.
func (p Plan) Commands(view cluster.View) (commands []cluster.Command) {
	for _, v := range p.Preempts {
		if v.Mode != preempt.Wait {
			commands = append(commands, v.command())
		}
	}
	for _, id := range p.Resumes {
		commands = append(commands, cluster.ResumeAttempt{Attempt: id})
	}
	for _, b := range p.BundleResumes {
		commands = append(commands, cluster.ResumeAttempt{Attempt: b.Attempts[0]}) // resumes the whole bundle
	}
	for _, s := range p.Starts {
		if start, ok := s.command(view); ok {
			commands = append(commands, start)
		}
	}
	for _, b := range p.Bundles {
		bundle := cluster.StartBundle{Job: b.Job, Class: b.Class, Number: b.Number}
		for _, s := range b.Starts {
			if start, ok := s.command(view); ok {
				bundle.Starts = append(bundle.Starts, start)
			}
		}
		if len(bundle.Starts) == len(b.Starts) {
			commands = append(commands, bundle)
		}
	}
	return commands
}

// command returns the command for a preemption.
func (p Preempt) command() cluster.PreemptAttempt {
	return cluster.PreemptAttempt{Attempt: p.Attempt, Mode: p.Mode, Cause: p.Cause, For: cluster.Beneficiary{Job: p.For, Pool: p.ForPool}}
}

// command returns the command for a start; ok is false if it has to wait.
func (s Start) command(view cluster.View) (c cluster.StartAttempt, ok bool) {
	j, _, t, ok := view.Task(s.Task)
	if !ok || !j.Loaded() {
		return c, false
	}
	return cluster.StartAttempt{Task: s.Task, Machine: s.Machine, Range: j.RangeOf(t), Local: s.Local, RackLocal: s.RackLocal}, true
}

// Preempt takes the slot of a running attempt. The attempt does not count as failed.
type Preempt struct {
	Attempt cluster.AttemptID
	Mode    preempt.Mode // not Wait
	Cause   string       // shown to users: what the slot is needed for

	// For is the job that gets the slot; zero if only the pool is known, or neither. ForPool is that
	// pool; "" if For says it.
	For     cluster.JobID
	ForPool string
}

// Start gives a slot of a machine to a task.
type Start struct {
	Task    cluster.TaskID
	Machine string
	Local   bool // the machine has the task's split

	RackLocal bool // the machine's rack has the task's split, but the machine has not
}

// BundleStart gives slots to all tasks of a bundle.
type BundleStart struct {
	Job    cluster.JobID
	Class  int // index into cluster.Job.Bundles
	Number int // number of the bundle in its class
	Starts []Start
}

// BundleResume gives slots to all attempts of a suspended bundle.
type BundleResume struct {
	Attempts []cluster.AttemptID // attempts in order of tasks
}
