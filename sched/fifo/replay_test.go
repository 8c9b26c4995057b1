package fifo

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// replay runs one job of maps in virtual time.
type replay struct {
	*testCluster
	policy   *Policy
	duration func(machine string) int64 // duration of a task, ms
	ends     map[cluster.AttemptID]int64
}

// run returns the number of machine-local maps, and the time at which the job was done, in
// ms after its start.
func (r *replay) run(job cluster.JobID) (local int, elapsed int64) {
	r.policy.Reset(r.Now, seen(r.State.View()))
	begin := r.Now
	j := r.State.View().Job(job)
	for j.State == cluster.JobRunning {
		r.decide()
		r.sleep()
		r.finish()
	}
	return j.Stages[0].LocalStarts, r.Now - begin
}

func (r *replay) at(c cluster.Command) {
	r.T.Helper()
	delta, err := r.State.Apply(cluster.Entry{At: r.Now, Command: c})
	if err != nil {
		r.T.Fatalf("%+v: %v", c, err)
	}
	r.policy.Observe(r.Now, seen(r.State.View()), delta)
}

// decide applies plans until one is empty.
func (r *replay) decide() {
	for {
		plan := r.policy.Decide(r.Now, seen(r.State.View()))
		if len(plan.Starts) == 0 {
			return
		}
		for _, s := range plan.Starts {
			_, _, task, _ := r.State.View().Task(s.Task)
			id := cluster.AttemptID{Task: s.Task, Number: len(task.Attempts)}
			r.at(cluster.StartAttempt{Task: s.Task, Machine: s.Machine, Local: s.Local, RackLocal: s.RackLocal})
			r.ends[id] = r.Now + r.duration(s.Machine)
		}
	}
}

// sleep advances to the time at which the next attempt ends or the policy wakes.
func (r *replay) sleep() {
	next := r.policy.NextWake()
	if next != 0 && next <= r.Now {
		r.T.Fatalf("at %d the policy wants to wake at %d", r.Now, next)
	}
	for _, end := range r.ends {
		if next == 0 || end < next {
			next = end
		}
	}
	if next == 0 {
		r.T.Fatal("tasks wait, nothing runs and the policy has no wake-up time")
	}
	r.Now = next
}

func (r *replay) finish() {
	for machine := range r.State.View().Machines() {
		for _, a := range append([]*cluster.Attempt(nil), machine.Attempts...) {
			if r.ends[a.ID] == r.Now {
				delete(r.ends, a.ID)
				r.at(cluster.FinishAttempt{Attempt: a.ID})
			}
		}
	}
}

// blocks returns 26 blocks, each on one of four machines.
func blocks(r *rand.Rand) (hosts []string, best int) {
	load := make([]int, 4)
	for range 26 {
		m := r.IntN(len(load))
		load[m]++
		hosts = append(hosts, fmt.Sprintf("10.0.0.%d", m))
	}
	for _, n := range load {
		best += min(n, 8) // four waves of two slots
	}
	return hosts, best
}

// outcome contains averages over many placements of blocks.
type outcome struct {
	local, best, seconds float64
	worst                int // largest number of local tasks by which a run missed the best
}

// measure replays the case of the paper's evaluation: 26 maps, replication 1, four machines
// of two slots. The best is the number of local tasks when every machine runs as many waves
// as the job needs and the blocks are known in advance.
func measure(t *testing.T, placement sched.Placement, jitter int64) (o outcome) {
	const runs = 100
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 1))
		hosts, best := blocks(random)
		w := newTestCluster(t)
		for i := range 4 {
			w.Apply(cluster.JoinMachine{Name: fmt.Sprintf("n%d", i), Hosts: []string{fmt.Sprintf("10.0.0.%d", i)}, Slots: cluster.Slots{2, 1}})
		}
		job := w.submit(0, 0, hosts...)
		r := &replay{testCluster: w, policy: New(placement), ends: make(map[cluster.AttemptID]int64)}
		r.duration = func(string) int64 { return 5000 - jitter + random.Int64N(2*jitter+1) }
		local, elapsed := r.run(job)
		o.local += float64(local) / runs
		o.best += float64(best) / runs
		o.seconds += float64(elapsed) / 1000 / runs
		o.worst = max(o.worst, best-local)
	}
	return o
}

func TestReplayOfThePapersEvaluation(t *testing.T) {
	patient := sched.Placement{Patience: sched.DefaultPatience}
	delay := sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 5000, RackWait: 5000}}
	for _, jitter := range []int64{0, 500, 1500} {
		none := measure(t, sched.Placement{Method: sched.None}, jitter)
		for _, tt := range []struct {
			name      string
			placement sched.Placement
			atLeast   float64 // local tasks of 26
			atMost    float64 // fraction of the time that method none takes
			worst     int
		}{
			{"flow", patient, 23.5, 1.10, 1}, // the last task goes wherever a slot is free
			{"flow that leaves no slot free", sched.Placement{}, 21.5, 1.01, 7},
			{"delay", delay, 23.5, 1.15, 5},
		} {
			o := measure(t, tt.placement, jitter)
			t.Logf("tasks of 5000 ms ± %d, %s: %+v; none: %+v", jitter, tt.name, o, none)
			if o.local < tt.atLeast || o.worst > tt.worst || o.seconds > tt.atMost*none.seconds {
				t.Errorf("%s at ± %d ms: %+v, want %v local, %d from the best, and %v of the %.1f s without it",
					tt.name, jitter, o, tt.atLeast, tt.worst, tt.atMost, none.seconds)
			}
		}
		if none.local < 5.5 || none.local > 7.5 || none.best < 24.5 || none.best > 25 {
			t.Errorf("without placement %.1f of %.1f are local; chance is 6.5 of 24.7", none.local, none.best)
		}
	}
}

// TestOneSlowMachine checks the bound of patience: waiting for a machine that is much slower
// than the others costs little, since waiting tasks start elsewhere when slots have been
// free for three tasks' time.
func TestOneSlowMachine(t *testing.T) {
	elapsed := func(placement sched.Placement) int64 {
		w := newTestCluster(t)
		for i := range 4 {
			w.Apply(cluster.JoinMachine{Name: fmt.Sprintf("n%d", i), Hosts: []string{fmt.Sprintf("10.0.0.%d", i)}, Slots: cluster.Slots{2, 1}})
		}
		hosts, _ := blocks(rand.New(rand.NewPCG(1, 1)))
		r := &replay{testCluster: w, policy: New(placement), ends: make(map[cluster.AttemptID]int64)}
		job := w.submit(0, 0, hosts...)
		r.duration = func(machine string) int64 {
			if machine == "n0" {
				return 20_000
			}
			return 5000
		}
		_, ms := r.run(job)
		return ms
	}
	patient, none := elapsed(sched.Placement{Patience: sched.DefaultPatience}), elapsed(sched.Placement{Method: sched.None})
	if patient > 2*none {
		t.Errorf("with patience the job takes %d ms, without any placement %d", patient, none)
	}
}

// placements lists all placement methods.
var placements = []sched.Placement{
	{},
	{Patience: 100},
	{Method: sched.Delay, Delay: locality.Delay{MachineWait: 30, RackWait: 40}},
	{Method: sched.None},
}
