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

// Home is the machine that has what a task goes on from, as far as it has come; ""
// when none has, or it begins anew.
func (t *Task) Home() string {
	if t.Checkpoint == nil {
		return ""
	}
	return t.Checkpoint.Machine
}

// indexHome enters a pending task under its Home.
func (s *Stage) indexHome(t *Task) {
	home := t.Home()
	if home == "" {
		return
	}
	if s.byHome[home] == nil {
		s.byHome[home] = new(numberSet)
	}
	s.byHome[home].add(t.ID.Number)
}

func (s *Stage) unindexHome(t *Task) {
	home := t.Home()
	if set := s.byHome[home]; set != nil {
		if set.remove(t.ID.Number); set.count == 0 {
			delete(s.byHome, home)
		}
	}
}

// setCheckpoint changes what a task goes on from, whether it waits or not; nil has
// it begin anew.
func (s *Stage) setCheckpoint(t *Task, c *Checkpoint) {
	if !t.waits() {
		t.Checkpoint = c
		return
	}
	s.unindexHome(t)
	t.Checkpoint = c
	t.setWaiting()
	s.indexHome(t)
}

// setWaiting gives a task that waits its state.
func (t *Task) setWaiting() {
	t.State = TaskPending
	if t.Checkpoint != nil {
		t.State = TaskPaused
	}
}

// rejectCheckpoint drops the checkpoint from which an attempt should have gone on,
// if no other has taken its place and it lies where the attempt was told, and reports
// whether there was one.
func (p place) rejectCheckpoint() bool {
	if p.attempt.From == 0 {
		return false
	}
	if c := p.task.Checkpoint; c != nil && c.Attempt.Number+1 == p.attempt.From && !p.attempt.Outdated {
		p.stage.setCheckpoint(p.task, nil)
	}
	return true
}

// loseCheckpoints drops those that lay on a machine alone, but for those of the
// attempts in held, which are in order. Of others the copy is left.
func (tx *transition) loseCheckpoints(machine string, held []AttemptID) {
	var bare []place
	for j := range tx.View().Jobs() {
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				t.Cut = t.Cut.without(machine, held)
				if c := t.Checkpoint.without(machine, held); c != t.Checkpoint {
					stage.setCheckpoint(t, c)
					bare = append(bare, place{job: j, stage: stage, task: t})
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
func (tx *transition) loseCheckpoint(p place) {
	switch {
	case p.task.Checkpoint.isThere():
	case !p.stage.Bundle.Gang:
		tx.dropCheckpoint(p)
	case p.task.waits():
		tx.breakUp(p, fmt.Sprintf("the checkpoint of %v is lost", p.task.ID))
	}
}

// without is what is left of a checkpoint when a machine is lost.
func (c *Checkpoint) without(machine string, held []AttemptID) *Checkpoint {
	if c == nil || c.Machine != machine || isAmong(held, c.Attempt) {
		return c
	}
	left := *c // which a snapshot may share
	left.Machine = ""
	return &left
}

// isThere reports whether there is a checkpoint, and it lies somewhere.
func (c *Checkpoint) isThere() bool { return c != nil && (c.Machine != "" || c.Copy != nil) }

// short is a checkpoint that may lack output that is gone.
func (c *Checkpoint) short() *Checkpoint {
	if c == nil || c.Short {
		return c
	}
	short := *c // which a snapshot may share
	short.Short = true
	return &short
}

// dropCheckpoint has a task begin anew.
func (tx *transition) dropCheckpoint(p place) { tx.goOnFrom(p, nil) }

// goOnFrom has a task go on from another checkpoint than it would have, or begin anew.
func (tx *transition) goOnFrom(p place, c *Checkpoint) {
	if p.task.Checkpoint != c {
		p.stage.setCheckpoint(p.task, c)
		tx.bare = append(tx.bare, p.task.ID)
	}
}

func (c *checker) checkpoints(s *State, j *Job) {
	for _, stage := range j.Stages {
		homes := make(map[string]int)
		for n, t := range stage.Tasks {
			c.checkpoint(s, t)
			for _, at := range []*Checkpoint{t.Checkpoint, t.Cut} {
				c.that(at == nil || at.Machine == "" || at.Machine == t.Attempts[at.Attempt.Number].Home(), "%v: its checkpoint %+v lies elsewhere than what the attempt has left", t.ID, at)
			}
			if home := t.Home(); home != "" && t.waits() {
				homes[home]++
				c.that(stage.byHome[home].has(n), "%v is not indexed under %s, from where it goes on", t.ID, home)
			}
		}
		for home, set := range stage.byHome {
			c.that(set.count == homes[home] && set.count > 0, "%v %s: %d tasks are to go on from %s, counted %d", j.ID, stage.Name, set.count, home, homes[home])
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
