package chaos

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"time"
)

// randomLimit is the time in which all faults of a random plan are injected. With their
// ends and the rest of the jobs a drill takes at most 15 s on an idle machine.
const randomLimit = 6 * time.Second

// longestRandom is the longest time that a random fault lasts, of most kinds.
const longestRandom = 2500 * time.Millisecond

// Random returns the plan of a seed: one or two jobs and one to four faults of these kinds,
// UnprivilegedKinds if there are none. Jobs can survive it: one tasknode never fails, and
// sooner or later a majority of masters runs.
func Random(seed uint64, of []Kind) *Plan { return RandomOn(Cluster{}, seed, of) }

// Cluster describes the cluster that random plans are made for. A zero field means the value
// that NewPlan uses. The cluster of NewPlan accepts every fault.
type Cluster struct {
	Masters, Tasknodes int
	Accepts            func(Fault) bool // whether a fault can be injected there
}

// maxDraws is how often a fault is drawn until the cluster accepts one.
const maxDraws = 1000

// RandomOn returns the plan of a seed for a cluster. It has fewer faults, or none, if the
// cluster accepts few of these kinds.
func RandomOn(on Cluster, seed uint64, of []Kind) *Plan {
	if len(of) == 0 {
		of = UnprivilegedKinds()
	}
	r := &random{Rand: rand.New(rand.NewPCG(seed, 0x68616d6d72)), plan: NewPlan(), kinds: of}
	if on.Masters != 0 {
		r.plan.Masters, r.plan.Tasknodes = on.Masters, on.Tasknodes
	}
	r.plan.Seed, r.plan.Limit = seed, randomLimit
	r.plan.Jobs = []Job{{Name: "j1", Program: Programs()[r.IntN(len(Programs()))]}}
	if r.IntN(3) == 0 {
		r.plan.Jobs = append(r.plan.Jobs, Job{Name: "j2", Program: Programs()[r.IntN(len(Programs()))]})
	}
	for range 1 + r.IntN(4) {
		for range maxDraws {
			if f := r.drawFault(); f.Target.Name != "" && (on.Accepts == nil || on.Accepts(f)) {
				r.plan.Faults = append(r.plan.Faults, f)
				break
			}
		}
	}
	return r.plan
}

// random draws a plan. Its order of draws is part of what a seed means. A new draw in the
// middle changes the plans of all seeds, which drills.csv and bug reports refer to.
type random struct {
	*rand.Rand
	plan  *Plan
	kinds []Kind
}

// drawFault draws a fault that a job can survive, as far as the fault alone decides that.
// Two faults together may still leave no majority for a while; each of them ends.
func (r *random) drawFault() Fault {
	f := Fault{Kind: r.kinds[r.IntN(len(r.kinds))], Trigger: r.drawTrigger()}
	kind := SpecOf(f.Kind)
	f.Target = r.drawTarget(kind)
	// Masters need a majority, whatever else happens to them.
	mustEnd := f.Target.Role == Jobmaster || !kind.survivable
	if kind.Lasts && (r.IntN(2) == 0 || mustEnd) {
		f.For = r.drawDuration(200*time.Millisecond, cmp.Or(kind.longest, longestRandom))
	}
	if kind.draw != nil {
		kind.draw(r, &f)
	}
	return f
}

// drawDuration draws a duration in whole tens of milliseconds, at least 5 ms.
func (r *random) drawDuration(from, to time.Duration) time.Duration {
	d := from + time.Duration(r.Int64N(int64(to-from)))
	return max(d.Truncate(10*time.Millisecond), 5*time.Millisecond)
}

// drawTrigger draws progress of a job in five of eight cases, so that most faults hit
// running tasks. The rest are spills, commits and times up to 4 s.
func (r *random) drawTrigger() Trigger {
	job := r.plan.Jobs[r.IntN(len(r.plan.Jobs))].Name
	switch r.IntN(8) {
	case 0, 1, 2:
		return Trigger{Event: AtMapProgress, Job: job, N: r.IntN(101)}
	case 3, 4:
		return Trigger{Event: AtReduceProgress, Job: job, N: r.IntN(101)}
	case 5:
		return Trigger{Event: AtSpill, Job: job, N: 1 + r.IntN(8)}
	case 6:
		return Trigger{Event: AtCommit, Job: job, N: r.IntN(2)}
	}
	return Trigger{Event: AtTime, At: r.drawDuration(0, 4*time.Second)}
}

// drawTarget draws a target of a kind. It never draws the last tasknode, so that one
// always works; without another one the target has no name. HDFS is left to plans by hand.
func (r *random) drawTarget(kind *KindSpec) Target {
	var roles []Role
	for _, role := range kind.Targets {
		if role != DataNode && role != NameNode {
			roles = append(roles, role)
		}
	}
	t := Target{Role: roles[r.IntN(len(roles))]}
	switch t.Role {
	case Task:
		t.Name = []string{"map", "reduce", Any}[r.IntN(3)]
	case Jobmaster:
		if t.Name = []string{Leader, Leader, Follower, All}[r.IntN(4)]; r.plan.Masters == 1 {
			t.Name = Leader
		}
	default:
		if others := r.plan.Tasknodes - 1; others > 0 {
			t.Name = strconv.Itoa(1 + r.IntN(others))
		}
	}
	return t
}
