package sim

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// script is FIFO, but for one attempt from which it takes its slot at a time, in
// ms since the start of the run. Until another time nothing starts and nothing
// goes on, but maps of other jobs, if they may.
type script struct {
	fifo.Policy

	how       preempt.Mode
	victim    string // text of its task's end, such as "m_000000"
	at, until int64
	othersMay bool // other jobs go on meanwhile
	told      bool

	wakes []int64                          // other times at which it is asked
	look  func(now int64, view sched.View) // at whatever time it is asked, by the run's clock
	job   cluster.JobID                    // of the victim
	now   int64                            // of the state's clock, when it was asked last
}

func (s *script) Decide(now int64, view sched.View) sched.Plan {
	s.now = now
	if s.look != nil {
		s.look(now-epoch, view)
	}
	plan := s.Policy.Decide(now, view)
	if now < s.at+epoch {
		return plan
	}
	if id, found := s.find(view); found && !s.told {
		s.told, s.job = true, id.Task.Job
		return sched.Plan{Preempts: []sched.Preempt{{Attempt: id, Mode: s.how, Cause: "the script says so"}}}
	}
	if now < s.until+epoch {
		return s.startOthers(view)
	}
	return plan
}

// find is the attempt that runs at the victim.
func (s *script) find(view sched.View) (id cluster.AttemptID, found bool) {
	for m := range view.Machines() {
		for _, a := range m.Attempts {
			if a.Active() && strings.HasSuffix(a.ID.Task.String(), s.victim) {
				return a.ID, true
			}
		}
	}
	return id, false
}

// startOthers starts a map of another job, if it may.
func (s *script) startOthers(view sched.View) (plan sched.Plan) {
	for j := range view.Jobs() {
		if !s.othersMay || j.ID == s.job || !j.Ready(j.Stages[0]) {
			continue
		}
		for t := range j.Stages[0].Pending() {
			for m := range view.MachinesWithFree(cluster.MapSlot) {
				return sched.Plan{Starts: []sched.Start{{Task: t.ID, Machine: m.Name}}}
			}
		}
	}
	return plan
}

func (s *script) NextWake() int64 {
	wake := s.Policy.NextWake()
	for _, at := range append([]int64{s.at, s.until}, s.wakes...) {
		wake = sched.Earliest(wake, s.after(at))
	}
	return wake
}

// never is a time that does not come.
const never = 1 << 40

// after is a time by the clock of the policy, 0 when the script is past it.
func (s *script) after(at int64) int64 {
	if at+epoch <= s.now || at == never {
		return 0
	}
	return at + epoch
}

// perform plays jobs by a script.
func perform(t testing.TB, cfg Config, s *script, jobs ...workload.Job) *Result {
	t.Helper()
	cfg.Policy, cfg.CheckInvariants, cfg.Tasks, cfg.Series = s, true, true, true
	r, err := Run(t.Context(), cfg, workloadOf(jobs...))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
