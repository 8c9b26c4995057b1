package sim

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sim/workload"
)

// script is FIFO with one preemption at a given time, in ms since the start of the run.
// Until another time nothing starts or resumes, except maps of other jobs if othersMay.
type script struct {
	fifo.Policy

	mode      preempt.Mode
	victim    string // suffix of its task's id, such as "m_000000"
	at, until int64
	othersMay bool // other jobs continue meanwhile
	preempted bool

	wakes []int64                          // other times at which it decides
	look  func(now int64, view sched.View) // called at each decision, by the run's clock
	job   cluster.JobID                    // of the victim
	now   int64                            // time of the last decision, by the state's clock
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
	if id, found := s.find(view); found && !s.preempted {
		s.preempted, s.job = true, id.Task.Job
		return sched.Plan{Preempts: []sched.Preempt{{Attempt: id, Mode: s.mode, Cause: "the script says so"}}}
	}
	if now < s.until+epoch {
		return s.startOthers(view)
	}
	return plan
}

// find returns the running attempt of the victim.
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

// startOthers starts a map of another job, if allowed.
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

// never is after the end of every run.
const never = 1 << 40

// after converts a time to the clock of the policy; it returns 0 if the time has passed.
func (s *script) after(at int64) int64 {
	if at+epoch <= s.now || at == never {
		return 0
	}
	return at + epoch
}

// perform runs jobs with a script.
func perform(t testing.TB, cfg Config, s *script, jobs ...workload.Job) *Result {
	t.Helper()
	cfg.Policy, cfg.CheckInvariants, cfg.Tasks, cfg.Series = s, true, true, true
	r, err := Run(t.Context(), cfg, workloadOf(jobs...))
	must.Do(t, err)
	return r
}
