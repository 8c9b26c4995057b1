package cluster

import "fmt"

// A checkpoint is dropped when it turns out to be of no use, and when its machine
// is lost and no copy of it is left. Its task begins anew, and with it its gang, unless
// that has an earlier cut to go back to.

// CheckpointCopy is a checkpoint file that, with all that it names, lies in the
// file system of the job's output.
type CheckpointCopy struct {
	Path     string `cbor:"Path"` // full name
	Bytes    int64  `cbor:"Bytes"`
	Checksum uint64 `cbor:"Checksum"` // xxhash64 over the file
}

// CheckpointMachine is the machine that has what a task goes on from, as far as it has come; ""
// when none has, or it begins anew.
func (t *Task) CheckpointMachine() string {
	if t.Checkpoint == nil {
		return ""
	}
	return t.Checkpoint.Machine
}

// indexCheckpoint enters a pending task under its Home.
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

func (s *Stage) unindexCheckpoint(t *Task) {
	home := t.CheckpointMachine()
	if set := s.byCheckpointMachine[home]; set != nil {
		if set.remove(t.ID.Number); set.count == 0 {
			delete(s.byCheckpointMachine, home)
		}
	}
}

// setCheckpoint changes what a task goes on from, whether it waits or not; nil has
// it begin anew.
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

// setWaiting gives a task that waits its state.
func (t *Task) setWaiting() {
	t.State = TaskPending
	if t.Checkpoint != nil {
		t.State = TaskCheckpointed
	}
}

// rejectCheckpoint drops the checkpoint from which an attempt should have gone on,
// if no other has taken its place and it lies where the attempt was told, and reports
// whether there was one.
func (p taskRef) rejectCheckpoint() bool {
	if p.attempt.From == 0 {
		return false
	}
	if c := p.task.Checkpoint; c != nil && c.Attempt.Number+1 == p.attempt.From && !p.attempt.CheckpointMoved {
		p.stage.setCheckpoint(p.task, nil)
	}
	return true
}

// loseCheckpoints drops those that lay on a machine alone, but for those of the
// attempts in held, which are in order. Of others the copy is left.
func (tx *transition) loseCheckpoints(machine string, held []AttemptID) {
	var bare []taskRef
	for j := range tx.View().Jobs() {
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				t.ConsistentCheckpoint = t.ConsistentCheckpoint.withoutMachine(machine, held)
				if c := t.Checkpoint.withoutMachine(machine, held); c != t.Checkpoint {
					stage.setCheckpoint(t, c)
					bare = append(bare, taskRef{job: j, stage: stage, task: t})
				}
			}
		}
	}
	for _, p := range bare {
		tx.loseCheckpoint(p)
	}
}

// loseCheckpoint has a task begin anew of whose checkpoint nothing is left. An attempt of
// a gang that goes on from it already is never told to begin anew instead, beside others
// that go on: it finds its checkpoint gone, if it has not read it yet.
func (tx *transition) loseCheckpoint(p taskRef) {
	switch {
	case p.task.Checkpoint.exists():
	case !p.stage.Bundle.Gang:
		tx.dropCheckpoint(p)
	case p.task.isWaiting():
		tx.rollBackGang(p, fmt.Sprintf("the checkpoint of %v is lost", p.task.ID))
	}
}

// withoutMachine is what is left of a checkpoint when a machine is lost.
func (c *Checkpoint) withoutMachine(machine string, held []AttemptID) *Checkpoint {
	if c == nil || c.Machine != machine || containsID(held, c.Attempt) {
		return c
	}
	left := *c // which a snapshot may share
	left.Machine = ""
	return &left
}

// exists reports whether there is a checkpoint, and it lies somewhere.
func (c *Checkpoint) exists() bool { return c != nil && (c.Machine != "" || c.Copy != nil) }

// withMissingInput is a checkpoint that may lack output that is gone.
func (c *Checkpoint) withMissingInput() *Checkpoint {
	if c == nil || c.MayMissInput {
		return c
	}
	short := *c // which a snapshot may share
	short.MayMissInput = true
	return &short
}

// dropCheckpoint has a task begin anew.
func (tx *transition) dropCheckpoint(p taskRef) { tx.resumeFrom(p, nil) }

// resumeFrom has a task go on from another checkpoint than it would have, or begin anew.
func (tx *transition) resumeFrom(p taskRef, c *Checkpoint) {
	if p.task.Checkpoint != c {
		p.stage.setCheckpoint(p.task, c)
		tx.lostCheckpoint = append(tx.lostCheckpoint, p.task.ID)
	}
}

func (c *checker) checkpoints(s *State, j *Job) {
	for _, stage := range j.Stages {
		homes := make(map[string]int)
		for n, t := range stage.Tasks {
			c.checkpoint(s, t)
			for _, at := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
				c.require(at == nil || at.Machine == "" || at.Machine == t.Attempts[at.Attempt.Number].DataMachine(), "%v: its checkpoint %+v lies elsewhere than what the attempt has left", t.ID, at)
			}
			if home := t.CheckpointMachine(); home != "" && t.isWaiting() {
				homes[home]++
				c.require(stage.byCheckpointMachine[home].has(n), "%v is not indexed under %s, from where it goes on", t.ID, home)
			}
		}
		for home, set := range stage.byCheckpointMachine {
			c.require(set.count == homes[home] && set.count > 0, "%v %s: %d tasks are to go on from %s, counted %d", j.ID, stage.Name, set.count, home, homes[home])
		}
	}
}

// checkpoint checks what a task goes on from.
func (c *checker) checkpoint(s *State, t *Task) {
	if !t.isWaiting() {
		return
	}
	c.require((t.State == TaskCheckpointed) == (t.Checkpoint != nil), "%v is %v, with a checkpoint: %v", t.ID, t.State, t.Checkpoint != nil)
	if t.Checkpoint == nil {
		return
	}
	m := s.byName[t.Checkpoint.Machine]
	c.require(m != nil && !m.Lost || m == nil && t.Checkpoint.Copy != nil, "%v goes on from a checkpoint that is lost with %q", t.ID, t.Checkpoint.Machine)
}
