package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
)

// committing reports whether the output of a job gets its final names, or has them. A
// trigger of commit 0 is due as soon as that is true.
func committing(j *cluster.Job) bool {
	return j.State == cluster.JobCommitting || j.State == cluster.JobSucceeded
}

// judge makes the verdict. r has the results of the run until it ended, perhaps by an error.
// The simulator's own check finds lost output (sim.Config.CheckInvariants): each block is
// covered by finished maps without gap or overlap, and each reduce has finished once. The
// verdict is bad if the simulator models no fault of the plan, since a good one would prove
// nothing. Wrong has one line for each cause.
func (p *player) judge(r *sim.Result, err error) *chaos.Verdict {
	v := &chaos.Verdict{Seed: p.plan.Seed, Elapsed: r.End}
	if err != nil {
		v.Wrong = append(v.Wrong, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for i := range p.faults {
		v.Faults = append(v.Faults, p.faultResult(i, r))
	}
	if len(p.plan.Faults) > 0 && !slices.ContainsFunc(p.plan.Faults, func(f chaos.Fault) bool { return notModelled(f) == "" }) {
		v.Wrong = append(v.Wrong, "nothing of the plan is modelled")
	}
	for i, j := range p.plan.Jobs {
		result := chaos.JobResult{Name: j.Name, Program: j.Program, ID: fmt.Sprint(i + 1), State: "UNKNOWN", Lost: reduceTasks}
		if i < len(r.Jobs) && r.Jobs[i].Start >= 0 {
			result.State = r.Jobs[i].State.String()
		}
		switch {
		case i >= len(r.Jobs) || r.Jobs[i].State != cluster.JobSucceeded:
			v.Wrong = append(v.Wrong, fmt.Sprintf("job %s is %s after %d ms", j.Name, result.State, r.End))
		case r.Jobs[i].OutputError != "":
			v.Wrong = append(v.Wrong, fmt.Sprintf("job %s: %s", j.Name, r.Jobs[i].OutputError))
		default:
			result.Lost, result.Bytes = 0, (mapTasks+reduceTasks)*taskBytes
		}
		result.ExtraAttempts = extraAttempts(r, j.Name)
		v.Jobs = append(v.Jobs, result)
	}
	v.WorkLost, v.Reached = workLost(r), reached(r)
	v.Sum()
	return v
}

// faultResult returns the outcome of fault i. Recovery counts from the first effect: for a
// failpoint that is the first hit, perhaps long after the injection.
func (p *player) faultResult(i int, r *sim.Result) chaos.FaultResult {
	f := &p.faults[i]
	out := chaos.FaultResult{Fault: p.plan.Faults[i].String(), Target: f.target, Injected: f.injected, Reason: f.reason, At: f.at}
	if f.injected && p.plan.Faults[i].Kind == chaos.Failpoint {
		most := int64(0)
		for _, h := range f.active {
			most = max(most, h.hits)
		}
		out.Reason = p.plan.Faults[i].MissedAfter(most)
		out.Injected = out.Reason == ""
	}
	if !out.Injected {
		return out
	}
	at, found := f.since, f.hasLeader
	if p.plan.Faults[i].Target.Role != chaos.Jobmaster {
		at, found = recoveredAt(r, f.since)
	} else if !f.hasLeader {
		at, found = nextLeaderAt(r, f.since)
	}
	out.Recovery, out.TimedOut = max(1, at-f.since), !found
	return out
}

// nextLeaderAt returns when a master began to lead after a time. It reports false if no master
// was elected until the end of the run.
func nextLeaderAt(r *sim.Result, since int64) (at int64, found bool) {
	for _, at := range r.Elections {
		if at > since {
			return at, true
		}
	}
	return r.End, false
}

// recoveredAt returns the first time after since at which an attempt began or finished, or
// all jobs had ended. It reports false if there is no such time.
func recoveredAt(r *sim.Result, since int64) (at int64, found bool) {
	at, found = r.End, true
	for _, j := range r.Jobs {
		found = found && j.Finish >= 0
	}
	for _, t := range r.Tasks {
		if t.Start > since && (!found || t.Start < at) {
			at, found = t.Start, true
		}
		done := t.Outcome == sim.Finished || t.Outcome == sim.SplitOff || t.Outcome == sim.Checkpointed
		if done && t.End > since && (!found || t.End < at) {
			at, found = t.End, true
		}
	}
	return at, found
}

// extraAttempts returns how many attempts were made beyond one a task. Attempts are numbered
// from 0 within their task, so each later one counts.
func extraAttempts(r *sim.Result, job string) (n int) {
	for _, t := range r.Tasks {
		if t.Job == job && t.Attempt > 0 {
			n++
		}
	}
	return n
}

// reached counts the paths of recovery that a run has reached. The simulator has no fetches of segments.
func reached(r *sim.Result) chaos.Reached {
	paths := make(chaos.Reached)
	for _, t := range r.Tasks {
		switch t.Outcome {
		case sim.Killed:
			paths.Add(chaos.FailedAttempt, 1)
		case sim.MachineLost:
			paths.Add(chaos.LostAttempt, 1)
		case sim.OutputLost:
			paths.Add(chaos.LostOutput, 1)
		case sim.SplitOff, sim.Checkpointed:
			paths.Add(chaos.ResumedWork, 1)
		}
	}
	paths.Add(chaos.Election, int64(len(r.Elections)-1))
	return paths
}

// workLost returns the run time, in ms, of attempts whose work is in no output. Checkpoints
// and splits keep their work, and time in suspension is no work.
func workLost(r *sim.Result) (ms int64) {
	for _, t := range r.Tasks {
		switch t.Outcome {
		case sim.Killed, sim.MachineLost, sim.OutputLost:
			ms += max(0, t.End-t.Start-t.Suspended)
		}
	}
	return ms
}
