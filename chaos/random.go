package chaos

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// randomLimit is the time in which all faults of a random plan come. With their
// ends and what is left of the jobs a drill stays within 15 s on an idle machine.
const randomLimit = 6 * time.Second

// Random is the plan of a seed: one or two jobs and one to four faults of these
// kinds, UnprivilegedKinds when there are none. What it breaks leaves a way to go on: a
// tasknode that never does anything wrong, and a majority of masters sooner or
// later.
func Random(seed uint64, of []Kind) *Plan { return RandomOn(Cluster{}, seed, of) }

// Cluster is one that random plans are made for. Zero values stand for that of
// NewPlan, where everything can go wrong.
type Cluster struct {
	Masters, Tasknodes int
	Accepts            func(Fault) bool // whether a fault can be injected there
}

// maxDraws is how often a fault is drawn until there is one that the cluster takes.
const maxDraws = 1000

// RandomOn is the plan of a seed for a cluster. It has fewer faults, or none, where
// the cluster hardly takes one of these kinds.
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

type random struct {
	*rand.Rand
	plan  *Plan
	kinds []Kind
}

func (r *random) drawFault() Fault {
	f := Fault{Kind: r.kinds[r.IntN(len(r.kinds))], Trigger: r.drawTrigger()}
	f.Target = r.drawTarget(f.Kind)
	if lasting[f.Kind] && (r.IntN(2) == 0 || r.mustEnd(f)) {
		longest := 2500 * time.Millisecond
		if f.Kind == Failpoint {
			longest = randomLimit // something has to come there
		}
		f.For = r.drawDuration(200*time.Millisecond, longest)
	}
	switch f.Kind {
	case SlowDisk:
		f.By = r.drawDuration(5*time.Millisecond, 100*time.Millisecond)
	case Clock:
		if f.By = r.drawDuration(time.Second, time.Minute); r.IntN(2) == 0 {
			f.By = -f.By
		}
	case Preempt:
		f.How = ways[r.IntN(len(ways))]
	case Failpoint:
		f.Point, f.How = r.drawFailpoint(f.Target.Role)
	}
	return f
}

// mustEnd reports whether a fault that never ends could leave no way to go on:
// masters need a majority, whatever else happens to them, and what is frozen or
// cannot write is not given up by anybody.
func (r *random) mustEnd(f Fault) bool {
	return f.Target.Role == Jobmaster || f.Kind != Kill && f.Kind != Stop && f.Kind != Failpoint
}

// drawDuration is one in whole tens of milliseconds.
func (r *random) drawDuration(from, to time.Duration) time.Duration {
	d := from + time.Duration(r.Int64N(int64(to-from)))
	return max(d.Truncate(10*time.Millisecond), 5*time.Millisecond)
}

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

// drawTarget is one for a kind. The last tasknode is never chosen, so that one is
// always in order, and there is no name where it is the only one; HDFS is left to
// plans by hand.
func (r *random) drawTarget(kind Kind) Target {
	var roles []Role
	for _, role := range targets[kind] {
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
