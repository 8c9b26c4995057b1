package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// checkInvariants checks the state, and compares the model with it: no machine runs more
// attempts than it has slots, and no attempt has done more work than it has. A machine that is lost or drained, or
// has had slots taken away, may have more assigned than it offers now.
//
//	for each machine and kind:  running, not suspended ≤ slots + migrating
//	for each attempt:           0 ≤ workDone ≤ ownWork,  copied ≤ bytes,  restoredWork ≤ taskWork
func (b *body) checkInvariants() error {
	errs := []error{b.state.CheckInvariants()}
	for _, m := range b.machines {
		var busy cluster.Slots
		for _, a := range m.running {
			if !a.suspended {
				busy[a.kind]++
			}
			if a.ended || a.machine != m || b.attempts[a.id] != a {
				errs = append(errs, fmt.Errorf("%s runs %v, which the model does not have", m.name, a.id))
			}
			if a.workDone < 0 || a.workDone > a.ownWork || a.copied > a.bytes || a.restoredWork > a.taskWork {
				errs = append(errs, fmt.Errorf("%v has done %d of %d ms, its checkpoint %d of %d ms, and it has copied %d of %d bytes",
					a.id, a.workDone, a.ownWork, a.restoredWork, a.taskWork, a.copied, a.bytes))
			}
		}
		known := b.view.Machine(m.name)
		for kind, n := range busy {
			moving := migrating(known, cluster.Slot(kind))
			if n > b.slotsOf(cluster.Slot(kind))+moving {
				errs = append(errs, fmt.Errorf("%s runs %d %vs, more than it has slots", m.name, n, cluster.Slot(kind)))
			}
			if known != nil && known.Free(cluster.Slot(kind))+moving < 0 && known.Slots[kind] == b.slotsOf(cluster.Slot(kind)) {
				errs = append(errs, fmt.Errorf("%s has more slots assigned than it has", m.name))
			}
		}
	}
	return errors.Join(errs...)
}

// migrating counts the attempts that a machine has woken so that they can move elsewhere.
// They may run without a slot, since they are about to end.
func migrating(m *cluster.Machine, kind cluster.Slot) (n int) {
	if m == nil {
		return 0
	}
	for _, a := range m.Attempts {
		if a.Slot == kind && a.PreemptRequested() && a.SuspendedAt > 0 {
			n++
		}
	}
	return n
}

// outputError compares what attempts have done with what the state says of a job that has
// succeeded. The finished ranges of each block must cover it without gap or overlap, and
// each reduce must have one winner. It returns "" if both hold.
func (b *body) outputError(j *job, s *cluster.Job) string {
	for _, stage := range s.Stages[1:] {
		for _, t := range stage.Tasks {
			if t.Winner == nil || !b.hasFinished(t, t.Winner) {
				return fmt.Sprintf("no attempt has finished %v", t.ID)
			}
		}
	}
	maps := slices.SortedFunc(slices.Values(s.Stages[0].Tasks), func(a, b *cluster.Task) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), a.Range.Start.Compare(b.Range.Start), a.Range.End.Compare(b.Range.End))
	})
	part, at := 0, int64(0) // everything before is covered
	for _, t := range maps {
		if t.Part != part && (t.Part != part+1 || at != lengthOf(j.in.Maps[part])) {
			break
		}
		if t.Part != part {
			part, at = t.Part, 0
		}
		if t.Range.Start.Offset != at {
			break
		}
		if !slices.ContainsFunc(t.Attempts, func(a *cluster.Attempt) bool { return (t.Winner == a || j.revoked[a.ID]) && b.hasFinished(t, a) }) {
			return fmt.Sprintf("no attempt has finished %v", t.ID)
		}
		at = t.Range.End.Offset
	}
	if part != len(j.in.Maps)-1 || at != lengthOf(j.in.Maps[part]) {
		return fmt.Sprintf("what maps have finished of block %d ends at byte %d, or overlaps there", part, at)
	}
	return ""
}

// hasFinished reports whether an attempt has done exactly the range of its task.
func (b *body) hasFinished(t *cluster.Task, a *cluster.Attempt) bool {
	did, finished := b.account.finishedRanges[a.ID]
	return finished && did == t.Range
}
