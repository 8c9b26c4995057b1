package cluster

// A checkpoint is dropped when it turns out to be of no use, and when its machine
// is lost and no copy of it is left. Its task begins anew.

// CheckpointCopy is a checkpoint file that, with all that it names, lies in the
// file system of the job's output.
type CheckpointCopy struct {
	Path     string // full name
	Bytes    int64
	Checksum uint64 // xxhash64 over the file
}

func (t *Task) dropCheckpoint() {
	t.Checkpoint = nil
	if t.State == TaskPaused {
		t.State = TaskPending
	}
}

// rejectCheckpoint drops the checkpoint from which an attempt should have gone on,
// if no other has taken its place, and reports whether there was one.
func (p place) rejectCheckpoint() bool {
	if p.attempt.From == 0 {
		return false
	}
	if c := p.task.Checkpoint; c != nil && c.Attempt.Number+1 == p.attempt.From {
		p.task.dropCheckpoint()
	}
	return true
}

// loseCheckpoints drops those that lay on a machine alone, but for those of the
// attempts in held, which are in order. Of others the copy is left.
func (tx *transition) loseCheckpoints(machine string, held []AttemptID) {
	for j := range tx.View().Jobs() {
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				if t.Checkpoint != nil && t.Checkpoint.Machine == machine {
					tx.loseCheckpoint(t, held)
				}
			}
		}
	}
}

func (tx *transition) loseCheckpoint(t *Task, held []AttemptID) {
	if isAmong(held, t.Checkpoint.Attempt) {
		return
	}
	if t.Checkpoint.Copy == nil {
		t.dropCheckpoint()
		tx.bare = append(tx.bare, t.ID)
		return
	}
	left := *t.Checkpoint // which a snapshot may share
	left.Machine = ""
	t.Checkpoint = &left
}

func (c *checker) checkpoints(s *State, j *Job) {
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			c.checkpoint(s, t)
		}
	}
}

// checkpoint checks what a task goes on from.
func (c *checker) checkpoint(s *State, t *Task) {
	if !t.waits() {
		return
	}
	c.that((t.State == TaskPaused) == (t.Checkpoint != nil), "%v is %v, with a checkpoint: %v", t.ID, t.State, t.Checkpoint != nil)
	if t.Checkpoint == nil {
		return
	}
	m := s.byName[t.Checkpoint.Machine]
	c.that(m != nil && !m.Lost || m == nil && t.Checkpoint.Copy != nil, "%v goes on from a checkpoint that is lost with %q", t.ID, t.Checkpoint.Machine)
}
