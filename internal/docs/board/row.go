package board

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Place is where an attempt was started, relative to the split of its task.
type Place uint8

const (
	PlaceUnknown Place = iota // it was started before this master followed the log
	PlaceNode                 // on a machine that has the split
	PlaceRack                 // in the rack of the split
	PlaceOther                // elsewhere
	PlaceAny                  // the task reads no split, or the attempt is speculative
)

func (p Place) String() string {
	return [...]string{"unknown", "node", "rack", "other", "any"}[p]
}

// modes are the preemption modes by their numbers in rows and events. 0 is none.
var modes = [...]preempt.Mode{"", preempt.Split, preempt.Checkpoint, preempt.Suspend, preempt.Kill}

// modeNumber returns the number of a mode.
func modeNumber(mode preempt.Mode) uint8 {
	for i, m := range modes {
		if m == mode {
			return uint8(i)
		}
	}
	return 0
}

// taskRow is what the board has of a task. There may be a million of them.
type taskRow struct {
	start    int64  // of its first attempt, ms since the epoch; 0 for none
	end      int64  // of its winner, ms since the epoch; 0 if it has none
	bytes    int64  // output of the winner
	records  int64  // output of the winner
	in       int64  // records that the winner has read
	spilled  int64  // records that the winner has spilled
	read     int64  // bytes of its splits that the winner has read
	last     uint32 // its last attempt: number of a row, counted from 1; 0 for none
	winner   uint32 // likewise
	attempts uint16 // its attempts; not above maxAttempts
	state    uint8  // cluster.TaskState
}

// attemptRow is what the board has of an attempt. The rows of the attempts of a task are linked,
// the last first.
type attemptRow struct {
	start       int64  // ms since the epoch
	end         int64  // when its status changed from RUNNING, ms since the epoch; 0 while it has not
	suspendedAt int64  // when it was suspended last, ms since the epoch; 0 if never
	suspended   int64  // sum of its suspensions that have ended, ms
	task        uint32 // number of its task
	number      uint32 // its number in its id
	prev        uint32 // previous attempt of its task: number of a row, counted from 1; 0 for none
	machine     uint32 // number of the name of its machine
	movedTo     uint32 // machine to which its output or checkpoint was moved; that of "" for none
	order       uint32 // from which pool and for which beneficiary the last order took its slot: number of a name; see orderName
	state       uint8  // cluster.AttemptState
	place       Place
	mode        uint8 // mode of the last order to give up its slot; see modes
}

// maxAttempts bounds the attempts of a task that the board has. More of them are not shown. A
// task has so many only if it is preempted again and again.
const maxAttempts = 1<<16 - 1

// inSlot reports whether the attempt occupies its slot.
func (r *attemptRow) inSlot() bool { return r.state != 0 && attemptOf(r.state).OccupiesSlot() }

// attemptOf returns an attempt in a state, for the methods that depend only on the state.
func attemptOf(state uint8) *cluster.Attempt {
	return &cluster.Attempt{State: cluster.AttemptState(state)}
}

// StageRow is a stage of a job.
type StageRow struct {
	Name, Code  string
	Source      bool          // it reads splits
	Slots       cluster.Slots // that a task takes
	Slot        cluster.Slot  // kind of these slots
	Tasks       int
	Finished    int // tasks that have succeeded
	Running     int // tasks with an active attempt
	Waiting     int // tasks that wait for a slot, also while the job is suspended
	Suspended   int // attempts that are suspended
	InSlots     int // attempts that occupy their slots
	Launched    int // attempts started
	LocalStarts int // attempts started where their split lies
	RackStarts  int // attempts started elsewhere in the rack of their split
	Failed      int // attempts failed
	Killed      int // attempts killed or lost
	SlotMillis  int64
	StartedAt   int64 // of the first attempt, ms since the epoch; 0 before
	FinishedAt  int64 // when the last task succeeded, ms since the epoch; 0 before
	Preemption  cluster.PreemptionStats
}

// Used returns the slots that the attempts of the stage occupy.
func (s *StageRow) Used() cluster.Slots { return s.Slots.Times(s.InSlots) }

// Summary is what the summary of an archived job in the state says about its stages.
type Summary struct {
	Name      string
	OutputDir string
	StartedAt int64  // of the first attempt, ms since the epoch; 0 for none
	Tasks     [2]int // by kind: maps, which read splits, and reduces
	Finished  [2]int // likewise: tasks that have succeeded
}

// JobRow is a job without its stages. Times are ms since the epoch; 0 is "not yet".
type JobRow struct {
	ID          cluster.JobID
	Name        string
	User        string
	Pool        string
	Priority    int
	State       cluster.JobState
	Cause       string // why it failed or was killed
	OutputDir   string
	Suspended   bool
	Archived    bool // its tasks are in its history only: it has no stages here
	SubmittedAt int64
	StartedAt   int64
	CommitAt    int64 // when the last task was finished
	FinishedAt  int64
	Summary     Summary // of an archived job; else zero
}

// jobRow returns the row of a job. The name of an archived one is in its summary.
func jobRow(j *cluster.Job) JobRow {
	return JobRow{
		ID: j.ID, Name: j.Spec.Name, OutputDir: j.Spec.OutputDir, User: j.Spec.User, Pool: j.Spec.Pool, Priority: j.Spec.Priority, State: j.State, Cause: j.Cause,
		Suspended: j.Suspended, Archived: j.Archived,
		SubmittedAt: j.SubmittedAt, StartedAt: j.StartedAt, CommitAt: j.CommitAt, FinishedAt: j.FinishedAt,
	}
}

// stageRow returns the row of a stage. inSlots is counted by the board, since the state does not.
func stageRow(s *cluster.Stage, inSlots int) StageRow {
	return StageRow{
		Name: s.Name, Code: s.Code, Source: s.Source, Slots: s.Slots, Slot: s.Slot,
		Tasks: len(s.Tasks), Finished: s.Finished, Running: s.Running, Waiting: s.ToStart(), Suspended: s.SuspendedCount(), InSlots: inSlots,
		Launched: s.Launched, LocalStarts: s.LocalStarts, RackStarts: s.RackStarts, Failed: s.Failed, Killed: s.Killed,
		SlotMillis: s.SlotMillis, StartedAt: s.StartedAt, FinishedAt: s.FinishedAt, Preemption: s.Preemption,
	}
}
