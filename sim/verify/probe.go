package verify

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
)

var errPanic = errors.New("a call panics")

// maxIdle is the longest time for which a slot may be idle beside work that could run there, whatever the
// policy declares, in ms. Twice the longest wait for a machine near the input suffices for all waits that add up.
const maxIdle = 2 * sched.DefaultPatience

// probe is the policy that the simulator runs: it passes each call to the policy that is checked, and looks
// at the result.
type probe struct {
	*verifier
	scenario scenario
	policy   sched.Policy
	before   []planned // of an earlier run, nil for none
	plans    []planned

	origin int64        // time of the first call: the start of the run by the state's clock, ms
	began  atomic.Int64 // when the present call began, ns by the real clock; 0 between two calls
	at     atomic.Int64 // when, in ms of the run

	submitted int
	change    string                  // the latest change of the state, for messages
	waiting   map[cluster.JobID]int64 // since when jobs with tasks have no slot, ms
	idle      map[sched.StageWait]int64
}

// planned identifies a plan.
type planned struct {
	at  int64 // ms of the run
	sum uint64
}

// call passes a call to the policy.
func (p *probe) call(now int64, do func()) {
	if p.origin == 0 {
		p.origin = now
	}
	p.at.Store(now - p.origin)
	p.began.Store(time.Now().UnixNano())
	do()
	p.began.Store(0)
}

func (p *probe) fail(part int, format string, args ...any) {
	p.verifier.fail(part, p.scenario, p.at.Load(), format, args...)
}

// Reset implements sched.Policy.
func (p *probe) Reset(now int64, view sched.View) {
	p.waiting, p.idle = make(map[cluster.JobID]int64), make(map[sched.StageWait]int64)
	p.call(now, func() { p.policy.Reset(now, view) })
}

// Observe implements sched.Policy.
func (p *probe) Observe(now int64, view sched.View, delta cluster.Delta) {
	if delta.Submitted != (cluster.JobID{}) {
		switch p.submitted++; {
		case !p.scenario.measured:
		case p.submitted == fewJobs+1:
			p.sizes[0] = sizeOf(p.policy)
		case p.submitted == manyJobs+1:
			p.sizes[1] = sizeOf(p.policy)
		}
	}
	if len(delta.Jobs)+len(delta.Machines) > 0 {
		p.change = fmt.Sprintf("jobs %v, machines %v", delta.Jobs, delta.Machines)
		p.changes++
	}
	p.call(now, func() { p.policy.Observe(now, view, delta) })
}

// NextWake implements sched.Policy.
func (p *probe) NextWake() (at int64) {
	p.call(p.at.Load()+p.origin, func() { at = p.policy.NextWake() })
	return at
}

// Decide implements sched.Policy.
func (p *probe) Decide(now int64, view sched.View) (plan sched.Plan) {
	p.call(now, func() { plan = p.policy.Decide(now, view) })
	p.decisions++
	p.compare(plan.Commands(view.View))
	if err := plan.Check(view); err != nil {
		p.fail(givesOnce, "%v", err)
	}
	p.checkWaits(now, view)
	given, free := count(plan), false
	for m := range view.Machines() {
		free = free || m.TakesTasks() && !view.FreeSlots(m).IsZero()
	}
	if !free {
		clear(p.idle)
	} else if given == 0 && len(plan.Preempts) == 0 {
		p.checkIdle(now, view, plan)
	}
	if free && p.scenario.twice && given == 0 {
		p.checkReaction(now, view)
	}
	return plan
}

// count returns the number of tasks that a plan gives slots.
func count(plan sched.Plan) (n int) {
	for range plan.AllStarts() {
		n++
	}
	for range plan.AllResumes() {
		n++
	}
	return n
}

// compare compares a plan with that of the run before.
func (p *probe) compare(commands []cluster.Command) {
	hash := fnv.New64a()
	for _, c := range commands {
		fmt.Fprintf(hash, "%T%v\n", c, c)
	}
	this, n := planned{p.at.Load(), hash.Sum64()}, len(p.plans)
	p.plans = append(p.plans, this)
	if p.before != nil && (n >= len(p.before) || p.before[n] != this) {
		p.fail(deterministic, "decision %d is %v, and was another one, or at another time, in a run before", n+1, commands)
		p.before = nil
	}
}

// checkWaits measures for how long jobs with tasks have no slot.
func (p *probe) checkWaits(now int64, view sched.View) {
	for j := range view.Jobs() {
		wants, running := false, 0
		if j.State == cluster.JobRunning {
			for w := range sched.Wants(j) {
				wants = wants || !w.Stage.StartsEarly()
			}
			for _, s := range j.Stages {
				running += s.Running - s.SuspendedCount()
			}
		}
		since, waits := p.waiting[j.ID]
		switch {
		case waits:
			p.noteWait(j.ID, now-since)
			if !wants || running > 0 {
				delete(p.waiting, j.ID)
			}
		case wants && running == 0:
			p.waiting[j.ID] = now
		}
	}
}

func (p *probe) noteWait(id cluster.JobID, ms int64) {
	if ms > p.longestWait {
		p.longestWait, p.bound = ms, p.scenario.wait
	}
	if ms > p.scenario.wait {
		p.fail(starvesNone, "%v has tasks, and has had no slot for %.1f s, longer than %.1f s", id, float64(ms)/1000, float64(p.scenario.wait)/1000)
	}
}

// checkIdle looks for slots that a plan leaves free although a task could start there. A policy declares such
// a wait by its wake-up time, or by the Deferred stages of the plan.
func (p *probe) checkIdle(now int64, view sched.View, plan sched.Plan) {
	found := make(map[sched.StageWait]int64)
	for j := range view.Jobs() {
		if j.State != cluster.JobRunning {
			continue
		}
		for w := range sched.Wants(j) {
			at := sched.StageWait{Job: j.ID, Stage: w.Stage.Code}
			machine := p.idleMachine(now, view, w)
			if machine == "" {
				continue
			}
			found[at] = now
			if since, known := p.idle[at]; known {
				found[at] = since
			}
			wake := p.policy.NextWake()
			p.longestIdle = max(p.longestIdle, now-found[at])
			switch {
			case wake <= now && !slices.Contains(plan.Deferred, at):
				p.fail(idlesNot, "a %v slot of %s is idle and stage %s of %v has tasks for it; the policy declares no wait: NextWake is %d and Deferred is %v",
					w.Stage.Slot, machine, at.Stage, j.ID, wake, plan.Deferred)
			case now-found[at] > maxIdle:
				p.fail(idlesNot, "a slot of %s is idle, and stage %s of %v has had tasks for it for %.1f s", machine, at.Stage, j.ID, float64(now-found[at])/1000)
			}
		}
	}
	p.idle = found
}

// idleMachine returns a machine where a task of a want could start now, "" for none. Bundles, which need several
// slots at once, tasks that would wait for others in their slots, and jobs at a limit are not examined.
func (p *probe) idleMachine(now int64, view sched.View, w sched.Want) string {
	j, kind := w.Job, w.Stage.Slot
	if w.Bundle != nil || w.Stage.Waiting() == 0 || !j.Ready(w.Stage) || w.Stage.StartsEarly() || sched.WaitClassOf(p.policy, j, kind) == sched.WaitLimit {
		return ""
	}
	for m := range view.MachinesWithFree(kind) {
		if m.TakesTasks() && sched.CanStartOn(view.View, now, j, kind, m.Name) && m.HasMemory(w.Stage) {
			return m.Name
		}
	}
	return ""
}

// checkReaction compares a policy that gives no slot with a new one, which knows only the state. The policy
// may give less for a while, if it says when it will decide again.
func (p *probe) checkReaction(now int64, view sched.View) {
	reset, err := p.cfg.New(p.scenario.workload)
	if err != nil {
		return // run has made one with the same settings
	}
	p.call(now, func() { reset.Reset(now, view) })
	var plan sched.Plan
	p.call(now, func() { plan = reset.Decide(now, view) })
	if n := count(plan); n > 0 && p.policy.NextWake() <= now {
		p.fail(reacts, "it gives no slot and wants no other call, and a policy that was reset gives %d; the latest change: %s", n, p.change)
	}
}

// end notes how the run has ended.
func (p *probe) end(err error) {
	switch {
	case errors.Is(err, errPanic):
		p.fail(terminates, "%v", err)
	case errors.Is(err, sim.ErrStuck):
		p.fail(starvesNone, "%v", err)
	case err != nil && strings.Contains(err.Error(), "without end"):
		p.fail(terminates, "%v", err)
	case err != nil:
		p.fail(givesOnce, "%v", err)
	default:
		p.jobs += p.submitted
		if p.before != nil && len(p.plans) == len(p.before) {
			p.repeated++
		} else if p.before != nil {
			p.fail(deterministic, "the run ends after %d decisions, and ended after %d before", len(p.plans), len(p.before))
		}
	}
	if few, many := p.sizes[0], p.sizes[1]; many > few+few/4+100 {
		p.fail(forgets, "it stores %d values after %d jobs, and %d after %d", few, fewJobs, many, manyJobs)
	}
}

// sizeOf counts the elements of all maps and slices that a policy reaches, without the state of the cluster.
func sizeOf(policy sched.Policy) int {
	return sizeOfValue(reflect.ValueOf(policy), make(map[uintptr]bool))
}

var statePackage = reflect.TypeFor[cluster.State]().PkgPath()

func sizeOfValue(v reflect.Value, seen map[uintptr]bool) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() == statePackage || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		return sizeOfValue(v.Elem(), seen)
	case reflect.Interface:
		return sizeOfValue(v.Elem(), seen)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[sched.View]() {
			return 0
		}
		for i := range v.NumField() {
			n += sizeOfValue(v.Field(i), seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice {
			n = v.Len()
		}
		for i := range v.Len() {
			n += sizeOfValue(v.Index(i), seen)
		}
	case reflect.Map:
		n = v.Len()
		for _, value := range v.Seq2() {
			n += sizeOfValue(value, seen)
		}
	}
	return n
}
