package cluster

import "fmt"

// A checkpoint is dropped when it cannot be read, or when its machine is lost and there is
// no copy. Its task starts over, and so does its gang, unless the gang can be rolled back to
// an earlier consistent checkpoint.

// CheckpointCopy is a copy of a checkpoint file, and of the files that it names, in the file
// system of the job's output.
type CheckpointCopy struct {
	Path     string `cbor:"Path"` // full name
	Bytes    int64  `cbor:"Bytes"`
	Checksum uint64 `cbor:"Checksum"` // xxhash64 over the file
}

// CheckpointMachine returns the machine that has the checkpoint from which a task resumes;
// "" if only a copy is left or the task starts over.
func (t *Task) CheckpointMachine() string {
	if t.Checkpoint == nil {
		return ""
	}
	return t.Checkpoint.Machine
}

// indexCheckpoint enters a pending task under its CheckpointMachine.
func (s *Stage) indexCheckpoint(t *Task) {
	home := t.CheckpointMachine()
	if home == "" {
		return
	}
	if s.byCheckpointMachine[home] == nil {
		s.byCheckpointMachine[home] = new(numberSet)
	}
	s.byCheckpointMachine[home].add(t.ID.Number)
}

// unindexCheckpoint removes the entry of a task under its CheckpointMachine. A set that
// becomes empty is dropped, so that the index has no entries for machines without
// checkpoints.
func (s *Stage) unindexCheckpoint(t *Task) {
	home := t.CheckpointMachine()
	if set := s.byCheckpointMachine[home]; set != nil {
		if set.remove(t.ID.Number); set.count == 0 {
			delete(s.byCheckpointMachine, home)
		}
	}
}

// setCheckpoint replaces the checkpoint of a task, whether it waits or not. With nil the
// task starts over.
func (s *Stage) setCheckpoint(t *Task, c *Checkpoint) {
	if !t.isWaiting() {
		t.Checkpoint = c
		return
	}
	s.unindexCheckpoint(t)
	t.Checkpoint = c
	t.setWaiting()
	s.indexCheckpoint(t)
}

// setWaiting sets the state of a task that waits.
func (t *Task) setWaiting() {
	t.State = TaskPending
	if t.Checkpoint != nil {
		t.State = TaskCheckpointed
	}
}

// rejectCheckpoint drops the checkpoint from which an attempt failed to resume, unless a
// newer one has replaced it or it was moved since the attempt's start. It reports whether
// the attempt had one.
func (p taskRef) rejectCheckpoint() bool {
	if p.attempt.From == 0 {
		return false
	}
	if c := p.task.Checkpoint; c != nil && c.Attempt.Number+1 == p.attempt.From && !p.attempt.CheckpointMoved {
		p.stage.setCheckpoint(p.task, nil)
	}
	return true
}

// loseCheckpoints drops the checkpoints on a machine, except those of the attempts in retained,
// which is in order. Where there is a copy, only the location is forgotten.
func (tx *transition) loseCheckpoints(m *Machine, retained []AttemptID) {
	var changed []taskRef
	for _, id := range tx.dataOn(m) {
		p, _ := tx.task(id) // dataOn has found it
		tx.touched = p.job
		p.task.ConsistentCheckpoint = p.task.ConsistentCheckpoint.withoutMachine(m.Name, retained)
		if c := p.task.Checkpoint.withoutMachine(m.Name, retained); c != p.task.Checkpoint {
			p.stage.setCheckpoint(p.task, c)
			changed = append(changed, p)
		}
	}
	for _, p := range changed {
		tx.touched = p.job
		tx.loseCheckpoint(p)
	}
}

// loseCheckpoint makes a task whose checkpoint is lost start over. It leaves a running
// attempt of a gang alone that resumed from the checkpoint: if only that attempt started
// over, the gang would mix two states. If the attempt has not read the checkpoint yet, it
// fails.
func (tx *transition) loseCheckpoint(p taskRef) {
	switch {
	case p.task.Checkpoint.exists():
	case !p.stage.Bundle.Gang:
		tx.dropCheckpoint(p)
	case p.task.isWaiting():
		tx.rollBackGang(p, fmt.Sprintf("the checkpoint of %v is lost", p.task.ID))
	}
}

// withoutMachine returns the part of a checkpoint that survives the loss of a machine: a
// checkpoint that has only its Copy, or nil.
func (c *Checkpoint) withoutMachine(machine string, retained []AttemptID) *Checkpoint {
	if c == nil || c.Machine != machine || containsID(retained, c.Attempt) {
		return c
	}
	left := *c // snapshots share the old value
	left.Machine = ""
	return &left
}

// exists reports whether there is a checkpoint that can still be read.
func (c *Checkpoint) exists() bool { return c != nil && (c.Machine != "" || c.Copy != nil) }

// withMissingInput returns a copy of the checkpoint that notes that its attempt may lack
// lost output.
func (c *Checkpoint) withMissingInput() *Checkpoint {
	if c == nil || c.MayMissInput {
		return c
	}
	short := *c // snapshots share the old value
	short.MayMissInput = true
	return &short
}

// dropCheckpoint makes a task start over.
func (tx *transition) dropCheckpoint(p taskRef) { tx.resumeFrom(p, nil) }

// resumeFrom makes a task resume from another checkpoint, or start over.
func (tx *transition) resumeFrom(p taskRef, c *Checkpoint) {
	if p.task.Checkpoint != c {
		p.stage.setCheckpoint(p.task, c)
		tx.lostCheckpoint = append(tx.lostCheckpoint, p.task.ID)
	}
}

// checkpoints checks the index of checkpoints by machine, and where each checkpoint lies.
func (c *checker) checkpoints(s *State, j *Job) {
	for _, stage := range j.Stages {
		byMachine := make(map[string]int)
		for n, t := range stage.Tasks {
			c.checkpoint(s, t)
			for _, at := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
				c.require(at == nil || at.Machine == "" || at.Machine == t.Attempt(at.Attempt.Number).DataMachine(), "%v: its checkpoint %+v lies elsewhere than what the attempt has left", t.ID, at)
			}
			if home := t.CheckpointMachine(); home != "" && t.isWaiting() {
				byMachine[home]++
				c.require(stage.byCheckpointMachine[home].has(n), "%v is not indexed under %s, where its checkpoint is", t.ID, home)
			}
		}
		for home, set := range stage.byCheckpointMachine {
			c.require(set.count == byMachine[home] && set.count > 0, "%v %s: %d tasks are to resume from %s, counted %d", j.ID, stage.Name, set.count, home, byMachine[home])
		}
	}
}

// checkpoint checks the checkpoint of a waiting task.
func (c *checker) checkpoint(s *State, t *Task) {
	if !t.isWaiting() {
		return
	}
	c.require((t.State == TaskCheckpointed) == (t.Checkpoint != nil), "%v is %v, with a checkpoint: %v", t.ID, t.State, t.Checkpoint != nil)
	if t.Checkpoint == nil {
		return
	}
	m := s.byName[t.Checkpoint.Machine]
	c.require(m != nil && !m.Lost || m == nil && t.Checkpoint.Copy != nil, "%v resumes from a checkpoint that is lost with %q", t.ID, t.Checkpoint.Machine)
}
