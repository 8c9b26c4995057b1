package board

import (
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Bounds on the losses of tasknodes that a board keeps, and on the tasks that each lists. All of them take at most 4 MB.
const (
	maxLosses    = 100
	maxLostTasks = 200
)

// losses has the latest losses of tasknodes. They are the metrics of Chronos, §6.1: how long recovery tasks wait, how
// many of them are local, and how long the schedule is wrong after a loss.
//
//	ExpireMachine, or JoinMachine of another instance ──► record; its tasks wait
//	    a task starts, is restored or is dropped ──► it does not wait
//	    none waits ──► the schedule is correct
type losses struct {
	records []*loss                     // the oldest first; at most maxLosses
	waiting map[cluster.TaskID]lostTask // also of records that were dropped
}

// loss is a record; open counts its tasks that wait.
type loss struct {
	apidoc.Loss
	open int
}

// lostTask is a task that waits, with its place in the tasks of its record; -1 if that does not list it.
type lostTask struct {
	*loss
	place int
}

// noteLoss makes a record if the entry has lost a tasknode, after all rows were updated.
func (u *update) noteLoss(command cluster.Command, delta cluster.Delta) {
	l := &loss{Loss: apidoc.Loss{Time: u.at, Tasks: []apidoc.LostTask{}}}
	switch c := command.(type) {
	case cluster.ExpireMachine:
		l.Node, l.Cause = c.Name, lossCause(u.view.Machine(c.Name))
	case cluster.JoinMachine:
		l.Node, l.Cause, l.Back = c.Name, "restarted", u.at
		u.noteBack(c.Name)
	default:
		return
	}
	for _, id := range delta.Ended {
		if _, t, a, known := u.view.Attempt(id); known && a.Lost() && waits(t) {
			l.Running++
			u.addLost(l, id, false)
		}
	}
	for _, id := range delta.Revoked {
		if _, _, t, known := u.view.Task(id.Task); known && waits(t) {
			l.Outputs++
			u.addLost(l, id, true)
		}
	}
	if l.open == 0 && l.Cause != "lost" {
		return // nothing was lost with it
	}
	if len(u.losses.records) == maxLosses {
		u.losses.records = slices.Delete(u.losses.records, 0, 1)
	}
	u.losses.records = append(u.losses.records, l)
	u.cfg.OnLoss(l.Loss)
	u.checkCorrect(l)
}

// lossCause returns what the loss of a machine is: a user may expect it.
func lossCause(m *cluster.Machine) string {
	switch {
	case m.Draining:
		return "drained"
	case m.Excluded:
		return "removed"
	}
	return "lost"
}

// waits reports whether a task waits for a slot.
func waits(t *cluster.Task) bool {
	return t.State == cluster.TaskPending || t.State == cluster.TaskCheckpointed
}

// addLost adds a task to a record.
func (u *update) addLost(l *loss, id cluster.AttemptID, output bool) {
	place := -1
	if len(l.Tasks) < maxLostTasks {
		place = len(l.Tasks)
		l.Tasks = append(l.Tasks, apidoc.LostTask{Attempt: id.String(), Output: output, State: "WAITING"})
	}
	l.open++
	u.losses.waiting[id.Task] = lostTask{l, place}
}

// noteBack notes in the latest record of a tasknode that it has joined again.
func (u *update) noteBack(node string) {
	for _, l := range slices.Backward(u.losses.records) {
		if l.Node == node {
			if l.Back == 0 {
				l.Back = u.at
			}
			return
		}
	}
}

// recover updates the record of a task that was lost and does not wait any more.
func (u *update) recover(t *cluster.Task) {
	l, lost := u.losses.waiting[t.ID]
	if !lost || waits(t) {
		return
	}
	delete(u.losses.waiting, t.ID)
	l.open--
	now := apidoc.LostTask{State: "DROPPED"}
	switch t.State {
	case cluster.TaskRunning:
		a := t.Attempts[len(t.Attempts)-1]
		now = apidoc.LostTask{State: "STARTED", Recovery: a.ID.String(), Node: a.Machine, Place: u.place.String(), WaitMillis: max(u.at-l.Time, 0)}
		l.Started, l.WaitMillis = l.Started+1, l.WaitMillis+now.WaitMillis
		u.Board.mu.waits.Recoveries.observe(now.WaitMillis)
		if u.place == PlaceNode {
			l.Local++
		}
		if PlaceNode <= u.place && u.place <= PlaceOther { // its task reads a split
			l.Maps++
		}
	case cluster.TaskSucceeded:
		now.State = "RESTORED"
		l.Restored++
	default:
		l.Dropped++
	}
	if l.place >= 0 {
		row := &l.Tasks[l.place]
		now.Attempt, now.Output = row.Attempt, row.Output
		*row = now
	}
	u.checkCorrect(l.loss)
}

// checkCorrect notes when the last task of a record does not wait any more.
func (u *update) checkCorrect(l *loss) {
	if l.open > 0 {
		return
	}
	correct := max(u.at-l.Time, 0)
	l.CorrectMillis = &correct
	if l.Running+l.Outputs > 0 {
		u.Board.mu.waits.Corrections.observe(correct)
		u.cfg.OnLoss(l.Loss)
	}
}

// Losses returns the losses of a tasknode, or of all if node is "". Those before Restore are not known.
func (b *Board) Losses(node string) apidoc.Losses {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := apidoc.Losses{Since: b.mu.since, Losses: []apidoc.Loss{}}
	for _, l := range slices.Backward(b.mu.losses.records) {
		if node == "" || l.Node == node {
			doc := l.Loss
			doc.Tasks = slices.Clone(doc.Tasks)
			list.Losses = append(list.Losses, doc)
		}
	}
	return list
}
