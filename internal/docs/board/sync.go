package board

import (
	"cmp"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// syncJob compares a job and all of its tasks with the state. It adds a job that is new, and
// removes one that is retired.
func (u *update) syncJob(id cluster.JobID) {
	j := u.view.Job(id)
	i, known := u.find(id)
	switch {
	case j == nil && known:
		u.release(u.jobs[i])
		u.jobs = slices.Delete(u.jobs, i, i+1)
		return
	case j == nil:
		return
	case !known:
		u.jobs = slices.Insert(u.jobs, i, u.newJob(j))
	}
	mine := u.jobs[i]
	u.syncStages(mine, j)
	for s, stage := range mine.stages {
		for _, t := range j.Stages[s].Tasks {
			u.compare(mine, stage, j, t)
		}
		u.syncStage(mine, stage, j.Stages[s])
	}
}

// newJob returns a job without tasks.
func (u *update) newJob(j *cluster.Job) *job {
	mine := new(job)
	for i, s := range j.Stages {
		mine.stages = append(mine.stages, &stage{StageRow: stageRow(s, 0), index: i})
	}
	return mine
}

// syncStages compares a job and its stages, but not its tasks.
func (u *update) syncStages(mine *job, j *cluster.Job) {
	mine.frozen = nil
	summary := mine.Summary
	if j.Archived && !mine.Archived {
		mine.stages, mine.attempts, mine.tape = nil, 0, table[event]{}
		u.release(mine)
		summary = u.cfg.Summary(j.Summary)
	}
	mine.JobRow = jobRow(j)
	if j.Archived {
		mine.Name, mine.OutputDir, mine.Summary = summary.Name, summary.OutputDir, summary
	}
	for i, s := range mine.stages {
		u.syncStage(mine, s, j.Stages[i])
	}
}

// syncStage compares the numbers of a stage.
func (u *update) syncStage(mine *job, s *stage, now *cluster.Stage) {
	if row := stageRow(now, s.InSlots); row != s.StageRow {
		u.Board.mu.samples.count(mine.Pool, &s.StageRow, &row)
		s.StageRow, mine.frozen = row, nil
	}
}

// syncTask compares a task with the state, and the numbers of its stage. It returns its job and
// stage, nil if the task is not in the state or the job is new to the board.
func (u *update) syncTask(id cluster.TaskID) (*job, *stage) {
	j, s, t, known := u.view.Task(id)
	i, listed := u.find(id.Job)
	if !known || !listed {
		return nil, nil
	}
	mine := u.jobs[i]
	stage := mine.stages[s.Index]
	for stage.tasks.end() < len(s.Tasks) { // a split has added tasks
		u.compare(mine, stage, j, s.Tasks[stage.tasks.end()])
	}
	u.compare(mine, stage, j, t)
	u.syncStage(mine, stage, s)
	return mine, stage
}

// compare compares a task and its attempts with their rows. The rows that differ change.
func (u *update) compare(mine *job, s *stage, j *cluster.Job, t *cluster.Task) {
	n := t.ID.Number
	for s.tasks.end() <= n {
		s.tasks.add(taskRow{})
		mine.frozen = nil
	}
	row := *s.tasks.at(n)
	u.compareAttempts(mine, s, t, &row)
	row.state = uint8(t.State)
	u.setWinner(s, j, t, &row)
	if row != *s.tasks.at(n) {
		*s.tasks.edit(n) = row
		mine.frozen = nil
		u.recover(t)
	}
}

// compareAttempts compares the attempts of a task, the last first, after it has added rows for
// those that are new. So the end of an attempt comes after the start of the next in the events of
// one entry, which both have its time.
func (u *update) compareAttempts(mine *job, s *stage, t *cluster.Task, row *taskRow) {
	for int(row.attempts) < min(len(t.Attempts), maxAttempts) {
		a := t.Attempts[row.attempts]
		if row.attempts == 0 {
			row.start = a.StartedAt
		}
		i := s.attempts.add(attemptRow{task: uint32(t.ID.Number), number: uint32(a.ID.Number), prev: row.last, place: u.place})
		row.last = uint32(i) + 1
		row.attempts++
		mine.attempts++
	}
	at := row.last
	for i := int(row.attempts) - 1; i >= 0; i-- {
		old := s.attempts.at(int(at) - 1)
		now := u.attemptRow(mine, old, t.Attempts[i])
		if now != *old {
			was := *old
			*s.attempts.edit(int(at) - 1) = now
			mine.frozen = nil
			s.count(&was, &now)
			u.events(mine, s, t, t.Attempts[i], &was, int(at)-1)
		}
		at = now.prev
	}
}

// count updates the number of attempts that occupy their slots.
func (s *stage) count(was, now *attemptRow) {
	if was.inSlot() {
		s.InSlots--
	}
	if now.inSlot() {
		s.InSlots++
	}
}

// attemptRow returns the row of an attempt. The links and the place are those of the old row.
func (u *update) attemptRow(mine *job, old *attemptRow, a *cluster.Attempt) attemptRow {
	row := *old
	row.start, row.end, row.suspendedAt, row.suspended = a.StartedAt, a.EndedAt, a.SuspendedAt, a.SuspendedUntilEnd()
	row.state, row.mode = uint8(a.State), modeNumber(a.PreemptMode)
	if old.state == 0 {
		row.machine = u.intern(mine, a.Machine)
	}
	if u.texts[row.movedTo] != a.MovedTo {
		row.movedTo = u.intern(mine, a.MovedTo)
	}
	if before := cmp.Or(cluster.AttemptState(old.state), cluster.AttemptRunning); before != a.State && stateKind(before, a).orders() && !u.replacesDeclined(a) {
		row.order = u.intern(mine, orderName(mine.Pool, u.beneficiary))
	}
	return row
}

// setWinner sets what is known of the winner of a task.
func (u *update) setWinner(s *stage, j *cluster.Job, t *cluster.Task, row *taskRow) {
	if t.Winner == nil {
		row.end, row.winner, row.bytes, row.records, row.in, row.spilled, row.read = 0, 0, 0, 0, 0, 0, 0
		return
	}
	winner := s.rowOfNumber(row.last, t.Winner.ID.Number) + 1
	if winner == row.winner && row.end == t.Winner.EndedAt {
		return
	}
	row.winner, row.end = winner, t.Winner.EndedAt
	row.bytes, row.records = t.Output.Bytes, t.Output.Records
	row.in, row.spilled, row.read = sum(j, t, u.cfg.InputRecords), sum(j, t, u.cfg.Spilled), sum(j, t, u.cfg.InputBytes)
}

// sum returns the sum of some counters of a finished task.
func sum(j *cluster.Job, t *cluster.Task, names []cluster.CounterName) (n int64) {
	for _, name := range names {
		n += j.CounterOf(t, name)
	}
	return n
}

// rowOfNumber returns the row of the attempt with a number, among those that begin at last.
func (s *stage) rowOfNumber(last uint32, number int) uint32 {
	for last != 0 {
		a := s.attempts.at(int(last) - 1)
		if a.number == uint32(number) {
			return last - 1
		}
		last = a.prev
	}
	return 0
}
