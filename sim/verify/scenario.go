package verify

import (
	"fmt"
	"math/rand/v2"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// scenario is a workload on a cluster, with what happens there.
type scenario struct {
	name     string // for messages: how to replay it
	cfg      sim.Config
	workload *workload.Workload
	inject   func() func(*sim.Simulation) int64 // makes Config.InjectFaults for one run; nil for none
	twice    bool                               // the second run must make the same decisions
	measured bool                               // the size of the policy is measured
	wait     int64                              // longest time for which a job may wait for its next slot while it has none, ms
}

// tasksOf returns tasks of about the same time.
func tasksOf(n int, millis func() int64, bytes int64) (tasks []workload.Task) {
	for range n {
		tasks = append(tasks, workload.Task{Millis: millis(), Bytes: bytes})
	}
	return tasks
}

func always(millis int64) func() int64 { return func() int64 { return millis } }

// stream has one large job, and small ones that come for an hour and more and could use all slots: under a policy
// that always prefers the small ones, the large one waits until the last of them.
func stream() scenario {
	const length, task, step = 4_800_000, 60_000, 9_600 // ms; six slots take longer for a task than the next one takes to come
	w := &workload.Workload{Name: "stream", Jobs: []workload.Job{{ID: "large", SlowStart: -1, Maps: tasksOf(12, always(task), 1<<20), Reduces: tasksOf(2, always(task), 1<<20)}}}
	for at := int64(1); at < length; at += step {
		w.Jobs = append(w.Jobs, workload.Job{ID: fmt.Sprint("small", at), Submit: at, SlowStart: -1, Maps: tasksOf(1, always(task), 1<<20)})
	}
	return scenario{name: "a large job among small ones", cfg: sim.Config{Machines: 3, MapSlots: 2, ReduceSlots: 1, ProgressInterval: 1000}, workload: w, wait: length / 2}
}

// Numbers of jobs that have ended when the size of the policy is measured.
const fewJobs, manyJobs = 250, 750

// succession has jobs that end soon and are retired as masters retire them. There is a pause of hours after fewJobs
// and after manyJobs: a policy may remember ended jobs for a while.
func succession() scenario {
	const pause = 12 * 3_600_000 // ms
	w := &workload.Workload{Name: "succession"}
	at := int64(0)
	for n := range manyJobs + 1 {
		if at += 700; n == fewJobs || n == manyJobs {
			at += pause
		}
		w.Jobs = append(w.Jobs, workload.Job{ID: fmt.Sprint("j", n), User: fmt.Sprint("u", n%3), Submit: at, SlowStart: -1, Maps: tasksOf(1, always(1_000), 1<<20), Reduces: tasksOf(1, always(500), 1<<20)})
	}
	return scenario{
		name: fmt.Sprintf("%d jobs in succession", manyJobs), cfg: sim.Config{Machines: 3, MapSlots: 2, ReduceSlots: 1}, workload: w, measured: true, wait: 60_000,
		inject: func() func(*sim.Simulation) int64 { return retire },
	}
}

// retire retires the jobs that are over, and is due again after a minute.
func retire(s *sim.Simulation) (again int64) {
	for j := range s.View().Jobs() {
		if j.State.Final() {
			s.Request(cluster.RetireJob{Job: j.ID})
		}
	}
	return 60_000
}

// random has a small cluster where everything happens that a policy has to react to.
func random(seed uint64) scenario {
	r := rand.New(rand.NewPCG(seed, 1))
	cfg := sim.Config{
		Machines: 3 + r.IntN(3), MapSlots: 1 + r.IntN(3), ReduceSlots: 1 + r.IntN(2), Racks: 1 + r.IntN(2), Replication: 1 + r.IntN(3),
		Seed: seed, ProgressInterval: 1000, CheckInvariants: true,
	}
	w := &workload.Workload{Name: "random"}
	at, work := int64(0), int64(0)
	for n := range 4 + r.IntN(8) {
		j := workload.Job{
			ID: fmt.Sprint("j", n), Submit: at, SlowStart: []float64{-1, 0, 1}[r.IntN(3)], Priority: r.IntN(3) - 1,
			User: fmt.Sprint("u", r.IntN(3)), Pool: []string{"", "a", "b"}[r.IntN(3)],
		}
		typical := 1 + r.Int64N(20_000)
		millis := func() int64 { return typical + r.Int64N(typical) }
		j.Maps, j.Reduces = tasksOf(1+r.IntN(20), millis, 1<<20), tasksOf(r.IntN(4), millis, 1<<20)
		work += workload.Sum(j.Maps).Millis + workload.Sum(j.Reduces).Millis
		w.Jobs = append(w.Jobs, j)
		at += r.Int64N(8_000)
	}
	return scenario{
		name: fmt.Sprintf("seed %d", seed), cfg: cfg, workload: w, twice: true, wait: work + 120_000,
		inject: func() func(*sim.Simulation) int64 {
			e := &events{random: rand.New(rand.NewPCG(seed, 2)), cfg: cfg}
			return e.next
		},
	}
}

// events makes things happen for the first two minutes of a run.
type events struct {
	random *rand.Rand
	cfg    sim.Config
}

// next makes one thing happen, and returns when the next one is due, in ms.
func (e *events) next(s *sim.Simulation) (again int64) {
	e.restore(s)
	if s.Time() > 120_000 {
		return 0
	}
	node := e.random.IntN(e.cfg.Machines)
	m := s.View().Machine(sim.MachineName(node))
	j := e.job(s)
	switch kind := e.random.IntN(8); {
	case m == nil || m.Lost || j == nil:
	case kind == 0 && e.spare(s):
		s.FailMachine(node, 3_000+e.random.Int64N(20_000))
	case kind == 1 && e.spare(s):
		s.Request(cluster.DrainMachine{Name: m.Name, Cause: "drained"})
	case kind == 2 && e.spare(s):
		e.join(s, m, m.Used) // without its free slots
	case kind == 3:
		s.Request(cluster.KillJob{Job: j.ID, Cause: "killed"})
	case kind == 4:
		s.Request(cluster.SetPriority{Job: j.ID, Priority: e.random.IntN(5) - 2})
	case kind == 5:
		s.Request(cluster.SetPool{Job: j.ID, Pool: []string{"a", "b", cluster.DefaultPool}[e.random.IntN(3)]})
	case kind == 6:
		if running := s.AttemptsOn(node); len(running) > 0 {
			s.FailAttempt(running[e.random.IntN(len(running))], "bad luck")
		}
	}
	return 500 + e.random.Int64N(4_000)
}

// spare reports whether the cluster can do without a machine.
func (e *events) spare(s *sim.Simulation) bool {
	n := 0
	for m := range s.View().Machines() {
		if m.TakesTasks() && m.Slots == m.Offered && !m.Slots.IsZero() {
			n++
		}
	}
	return n >= 2
}

// restore admits drained machines, and gives machines their slots again, now and then; always in the end.
func (e *events) restore(s *sim.Simulation) {
	full := cluster.Slots{e.cfg.MapSlots, e.cfg.ReduceSlots}
	for m := range s.View().Machines() {
		if m.Lost || s.Time() <= 120_000 && e.random.IntN(4) > 0 {
			continue
		}
		if m.Excluded {
			s.Request(cluster.AdmitMachine{Name: m.Name})
		}
		if m.Offered != full {
			e.join(s, m, full)
		}
	}
}

// join changes the slots of a machine.
func (e *events) join(s *sim.Simulation, m *cluster.Machine, slots cluster.Slots) {
	s.Request(cluster.JoinMachine{
		Name: m.Name, Instance: m.Instance, Address: m.Address, HTTP: m.HTTP, Rack: m.Rack, Hosts: m.Hosts, Slots: slots, MemoryMB: m.MemoryMB,
	})
}

// job returns a random job that runs; nil if there is none.
func (e *events) job(s *sim.Simulation) *cluster.Job {
	var running []*cluster.Job
	for j := range s.View().Jobs() {
		if j.State == cluster.JobRunning {
			running = append(running, j)
		}
	}
	if len(running) == 0 {
		return nil
	}
	return running[e.random.IntN(len(running))]
}
