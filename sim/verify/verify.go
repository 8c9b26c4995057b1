// Package verify checks a scheduling policy against the contract of package sched, in virtual time. It is
// `hammr sim verify`, and the test of a policy in another module calls it too:
//
//	for _, p := range verify.Policy(ctx, verify.Config{New: newPolicy}) {
//		if p.Failure != "" {
//			t.Errorf("%s: %s", p.Name, p.Failure)
//		}
//	}
//
// The policy runs in the simulator, behind a probe that looks at each call:
//
//	scenario (workload, events) ──► sim.Run ──► probe ──► policy
//	                                              ├──► findings: the first failure of each property
//	                                              └──► a new policy after Reset, for comparison
//
// A random scenario is made of its seed alone, so a failure can be replayed with the seed that it names.
package verify

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// Config says what to check, and how thoroughly.
type Config struct {
	// New makes the policy; each run needs a new one. It may take the sizes of jobs from the
	// workload, as sim.Oracle does. Required.
	New func(w *workload.Workload) (sched.Policy, error)
	// Seed is that of the first random scenario; the others' follow. Default 1.
	Seed uint64
	// Runs is the number of random scenarios. Default 20.
	Runs int
	// Patience is how long one call of the policy may take, by the real clock. Default 10 s.
	Patience time.Duration
}

// Property is a part of the contract, and what was found.
type Property struct {
	Name     string
	Failure  string // the first violation, with its scenario and time; "" if there is none
	Evidence string // what was looked at; "" if the property was not examined
}

// Policy checks a policy and returns all properties, in a fixed order. It stops early if a call of the
// policy panics or does not return; such a call continues in the background. The error is that of
// Config.New, or that of the context.
func Policy(ctx context.Context, cfg Config) ([]Property, error) {
	cfg.Seed, cfg.Runs, cfg.Patience = cmp.Or(cfg.Seed, 1), cmp.Or(cfg.Runs, 20), cmp.Or(cfg.Patience, 10*time.Second)
	v := &verifier{cfg: cfg}
	scenarios := []scenario{stream(), succession()}
	for n := range cfg.Runs {
		scenarios = append(scenarios, random(cfg.Seed+uint64(n)))
	}
	for _, s := range scenarios {
		first, err := v.run(ctx, s, nil)
		if err == nil && s.twice && first != nil && v.failures[terminates] == "" {
			_, err = v.run(ctx, s, first.plans)
		}
		if err != nil {
			return nil, err
		}
		if v.failures[terminates] != "" {
			break
		}
	}
	return v.properties(), nil
}

// The parts of the contract, in the order of Policy's result.
const (
	terminates = iota
	deterministic
	givesOnce
	starvesNone
	idlesNot
	forgets
	reacts
	parts
)

var names = [parts]string{
	"returns from each call", "decides the same again", "gives nothing twice", "starves no job", "leaves no slot idle", "forgets jobs that are over", "reacts to every event",
}

// verifier has the findings of all runs.
type verifier struct {
	cfg      Config
	failures [parts]string

	runs, repeated, decisions, jobs, changes int
	longestWait, longestIdle                 int64  // ms
	bound                                    int64  // of longestWait in its scenario, ms
	sizes                                    [2]int // values that the policy stores after fewJobs and after manyJobs
}

// fail notes the first violation of a property. At is in ms of the run.
func (v *verifier) fail(part int, s scenario, at int64, format string, args ...any) {
	if v.failures[part] == "" {
		v.failures[part] = fmt.Sprintf("%s, at %.3f s: ", s.name, float64(at)/1000) + fmt.Sprintf(format, args...)
	}
}

// run runs a scenario. Before has the plans of an earlier run, nil for none. The probe is nil if a call
// of the policy does not return, since the call may still use it.
func (v *verifier) run(ctx context.Context, s scenario, before []planned) (*probe, error) {
	policy, err := v.cfg.New(s.workload)
	if err != nil {
		return nil, err
	}
	p := &probe{verifier: v, scenario: s, policy: policy, before: before}
	cfg := s.cfg
	cfg.Policy = p
	if s.inject != nil {
		cfg.InjectFaults = s.inject()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if x := recover(); x != nil {
				done <- fmt.Errorf("%w: %v%s", errPanic, x, frameOf(debug.Stack()))
			}
		}()
		_, err := sim.Run(ctx, cfg, s.workload)
		done <- err
	}()
	watch := time.NewTicker(v.cfg.Patience / 10)
	defer watch.Stop()
	for {
		select {
		case err := <-done:
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			v.runs++
			p.end(err)
			return p, nil
		case <-watch.C:
			if began := p.began.Load(); began != 0 && time.Since(time.Unix(0, began)) > v.cfg.Patience {
				v.fail(terminates, s, p.at.Load(), "a call has not returned after %v", v.cfg.Patience)
				return nil, nil
			}
		}
	}
}

// frameOf returns the function and the line that a stack has below the call of panic.
func frameOf(stack []byte) string {
	_, below, _ := strings.Cut(string(stack), "\npanic(")
	if lines := strings.Split(below, "\n"); len(lines) > 3 {
		return ", in " + lines[2] + " at " + strings.TrimSpace(lines[3])
	}
	return ""
}

// properties returns all findings.
func (v *verifier) properties() []Property {
	evidence := [parts]string{
		terminates:    fmt.Sprintf("%d decisions in %d runs", v.decisions, v.runs),
		deterministic: fmt.Sprintf("%d runs repeated", v.repeated),
		givesOnce:     fmt.Sprintf("%d plans within the free slots and memory", v.decisions),
		starvesNone:   fmt.Sprintf("%d jobs ended; one waited %.1f s for its next slot, of at most %.1f s", v.jobs, float64(v.longestWait)/1000, float64(v.bound)/1000),
		idlesNot:      fmt.Sprintf("a slot was idle beside work for %.1f s, of at most %.1f s, and each time a wait was declared", float64(v.longestIdle)/1000, float64(maxIdle)/1000),
		forgets:       fmt.Sprintf("%d values stored after %d jobs, %d after %d", v.sizes[0], fewJobs, v.sizes[1], manyJobs),
		reacts:        fmt.Sprintf("%d changes, after each of which a policy that was reset gives out no more", v.changes),
	}
	all := make([]Property, parts)
	for i := range all {
		all[i] = Property{Name: names[i], Failure: v.failures[i], Evidence: evidence[i]}
		if v.failures[terminates] != "" && i != terminates {
			all[i].Evidence = ""
		}
	}
	return all
}
