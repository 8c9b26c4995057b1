package board

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Snapshot is a board as it was at one moment, between two entries. It never changes, so any
// number of goroutines may read it.
type Snapshot struct {
	At      time.Time           // when it was made
	Changes uint64              // number of the changes that it has; a later snapshot with the same number is the same
	Since   int64               // time of the first entry that this master has followed, ms since the epoch: events begin there; 0 for none
	Jobs    []*Job              // in the state, ascending by number
	Actions []apidoc.UserAction // the latest ones of users, the oldest first

	names []string // of machines, and of jobs and pools that get slots
}

// Job is a job of a Snapshot.
type Job struct {
	JobRow
	Stages  []StageRow          // in the order of its graph; none if it is archived
	Actions []apidoc.UserAction // the latest ones of users on it and its attempts, the oldest first

	tasks    []rows[taskRow]    // by stage
	attempts []rows[attemptRow] // by stage
	tape     rows[event]
}

// Live is what the board does not have of a job that is not over: the loop knows it.
type Live struct {
	Reason    string             // what the job waits for, "" if it does not wait
	Fractions map[string]float64 // by code of the stage: sum of the fractions of running attempts; nil on a follower
}

// Snapshot returns the present contents. The result may be as old as 250 ms.
func (b *Board) Snapshot() *Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.mu.contents
	now := b.cfg.Now()
	last := c.last
	switch {
	case last != nil && now.Sub(last.At).Abs() < publishInterval:
		return last
	case last != nil && last.Changes == c.changes:
		same := *last
		same.At, c.last = now, &same
		return c.last
	}
	c.last = c.freeze(now)
	c.published++
	return c.last
}

// SnapshotOf returns a snapshot with the present contents that has only one job; none if the state
// does not have it.
func (b *Board) SnapshotOf(id cluster.JobID) *Snapshot {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.mu.contents
	s := &Snapshot{At: b.cfg.Now(), Changes: c.changes, Since: c.since, names: slices.Clip(c.texts)}
	if i, found := c.find(id); found && c.jobs[i].ID == id {
		if c.jobs[i].frozen == nil {
			c.jobs[i].frozen = c.jobs[i].freeze()
		}
		s.Jobs = []*Job{c.jobs[i].frozen}
	}
	return s
}

// freeze makes a snapshot. Jobs that have not changed are those of the latest one.
func (c *contents) freeze(now time.Time) *Snapshot {
	s := &Snapshot{At: now, Changes: c.changes, Since: c.since, names: slices.Clip(c.texts), Jobs: make([]*Job, len(c.jobs)), Actions: latest(c.actions, maxActions)}
	c.shared = true
	for i, j := range c.jobs {
		if j.frozen == nil {
			j.frozen = j.freeze()
		}
		s.Jobs[i] = j.frozen
	}
	return s
}

// freeze returns the job as it is now.
func (j *job) freeze() *Job {
	frozen := &Job{JobRow: j.JobRow, Actions: latest(j.actions, maxJobActions), tape: j.tape.freeze()}
	for _, s := range j.stages {
		frozen.Stages = append(frozen.Stages, s.StageRow)
		frozen.tasks = append(frozen.tasks, s.tasks.freeze())
		frozen.attempts = append(frozen.attempts, s.attempts.freeze())
	}
	return frozen
}

// Job returns the job with an id, nil if the state does not have it.
func (s *Snapshot) Job(id cluster.JobID) *Job {
	i, found := slices.BinarySearchFunc(s.Jobs, id.Number, func(j *Job, n int) int { return j.ID.Number - n })
	if !found || s.Jobs[i].ID != id {
		return nil
	}
	return s.Jobs[i]
}

// Task is a task of a Snapshot. Times are ms since the epoch; 0 is "not yet".
type Task struct {
	ID       cluster.TaskID
	State    cluster.TaskState
	Start    int64 // of the first attempt
	End      int64 // of the winner
	Bytes    int64 // output of the winner
	Records  int64 // output of the winner
	In       int64 // records that the winner has read
	Spilled  int64 // records that the winner has spilled
	Read     int64 // bytes of its splits that the winner has read
	Attempts int   // number of attempts

	Suspended bool // it runs, and all its active attempts are suspended

	// These are of the winner or, if there is none, of the last attempt.
	Machine  string // "" for none
	Place    Place
	Duration int64 // time for which it has had its slot, ms
}

// Tasks yields the tasks of a job of this snapshot, in the order of stages and numbers; none of an
// archived job. A task is valid until the next one is yielded.
func (s *Snapshot) Tasks(j *Job) iter.Seq[*Task] {
	return func(yield func(*Task) bool) {
		var t Task
		for stage := range j.Stages {
			for n := range j.tasks[stage].end() {
				s.fill(&t, j, stage, n)
				if !yield(&t) {
					return
				}
			}
		}
	}
}

// Task returns a task. The error wraps cluster.ErrUnknown if the job is archived or has no such
// task.
func (s *Snapshot) Task(id cluster.TaskID) (Task, error) {
	j, stage, err := s.find(id)
	if err != nil {
		return Task{}, err
	}
	var t Task
	s.fill(&t, j, stage, id.Number)
	return t, nil
}

// find returns the job of a task, and the place of its stage.
func (s *Snapshot) find(id cluster.TaskID) (j *Job, stage int, err error) {
	if j = s.Job(id.Job); j == nil {
		return nil, 0, fmt.Errorf("%w: %v", cluster.ErrUnknown, id.Job)
	}
	stage = slices.IndexFunc(j.Stages, func(st StageRow) bool { return st.Code == id.Stage })
	if stage < 0 || id.Number < 0 || id.Number >= j.tasks[stage].end() {
		return nil, 0, fmt.Errorf("%w: %v", cluster.ErrUnknown, id)
	}
	return j, stage, nil
}

// fill sets a task to what readers see of it.
func (s *Snapshot) fill(t *Task, j *Job, stage, n int) {
	row := s.shown(j, stage, n)
	t.ID.Job, t.ID.Stage, t.ID.Number = j.ID, j.Stages[stage].Code, n
	t.State = cluster.TaskState(row.state)
	t.Start, t.End, t.Bytes, t.Records = row.start, row.end, row.bytes, row.records
	t.In, t.Spilled, t.Read = row.in, row.spilled, row.read
	t.Attempts = int(row.attempts)
	t.Machine, t.Place, t.Duration = s.names[row.attempt.machine], row.attempt.place, row.duration(s.At.UnixMilli())
	t.Suspended = t.State == cluster.TaskRunning && row.suspended(&j.attempts[stage])
}

// suspended reports whether all active attempts at a running task are suspended.
func (t *taskRow) suspended(attempts *rows[attemptRow]) (suspended bool) {
	for at := t.last; at != 0; {
		row := attempts.at(int(at) - 1)
		if a := attemptOf(row.state); a.Active() {
			if !a.InMemory() {
				return false
			}
			suspended = true
		}
		at = row.prev
	}
	return suspended
}

// shownTask is a task with the attempt that lists show: the winner or, if there is none, the last.
type shownTask struct {
	*taskRow
	attempt *attemptRow // a zero row if there is none
}

// shown returns the rows of a task.
func (s *Snapshot) shown(j *Job, stage, n int) shownTask {
	t := shownTask{j.tasks[stage].at(n), &noAttempt}
	if row := cmp.Or(t.winner, t.last); row != 0 {
		t.attempt = j.attempts[stage].at(int(row) - 1)
	}
	return t
}

var noAttempt attemptRow // read only

// duration returns the time for which the attempt has had its slot, at a time in ms since the
// epoch; 0 if the task was not started.
func (t shownTask) duration(now int64) int64 {
	a := t.attempt
	if a.end != 0 {
		now = a.end
	}
	if a.start == 0 {
		return 0
	}
	if cluster.AttemptState(a.state) == cluster.AttemptSuspended {
		now = a.suspendedAt
	}
	return max(now-a.start-a.suspended, 0)
}

// Attempt is an attempt of a Snapshot. Times are ms since the epoch; 0 is "not yet".
type Attempt struct {
	ID         cluster.AttemptID
	Machine    string
	State      cluster.AttemptState
	Start, End int64
	Place      Place
}

// Attempts returns the attempts at a task, ascending. The error wraps cluster.ErrUnknown if the
// job is archived or has no such task.
func (s *Snapshot) Attempts(id cluster.TaskID) ([]Attempt, error) {
	j, stage, err := s.find(id)
	if err != nil {
		return nil, err
	}
	var all []Attempt
	for at := j.tasks[stage].at(id.Number).last; at != 0; {
		row := j.attempts[stage].at(int(at) - 1)
		all = append(all, s.attempt(id, row))
		at = row.prev
	}
	slices.Reverse(all)
	return all, nil
}

// attempt returns an attempt as readers see it.
func (s *Snapshot) attempt(task cluster.TaskID, row *attemptRow) Attempt {
	return Attempt{
		ID: cluster.AttemptID{Task: task, Number: int(row.number)}, Machine: s.names[row.machine],
		State: cluster.AttemptState(row.state), Start: row.start, End: row.end, Place: row.place,
	}
}
