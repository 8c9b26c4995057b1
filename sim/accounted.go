package sim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// outputError holds what attempts have done against what the state says of a job that
// has succeeded: the finished parts of each block cover it without gap or overlap, and
// each reduce has one winner. It is "" when that is so.
func (b *body) outputError(j *job, s *cluster.Job) string {
	for _, stage := range s.Stages[1:] {
		for _, t := range stage.Tasks {
			if t.Winner == nil || !b.hasFinished(t, t.Winner) {
				return fmt.Sprintf("nobody has finished %v", t.ID)
			}
		}
	}
	maps := slices.SortedFunc(slices.Values(s.Stages[0].Tasks), func(a, b *cluster.Task) int {
		return cmp.Or(cmp.Compare(a.Part, b.Part), a.Range.Start.Compare(b.Range.Start), a.Range.End.Compare(b.Range.End))
	})
	part, at := 0, int64(0) // all before that is covered
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
			return fmt.Sprintf("nobody has finished %v", t.ID)
		}
		at = t.Range.End.Offset
	}
	if part != len(j.in.Maps)-1 || at != lengthOf(j.in.Maps[part]) {
		return fmt.Sprintf("what maps have finished of block %d ends at byte %d, or overlaps there", part, at)
	}
	return ""
}

// hasFinished reports whether an attempt has done what its task is.
func (b *body) hasFinished(t *cluster.Task, a *cluster.Attempt) bool {
	did, finished := b.account.finishedRanges[a.ID]
	return finished && did == t.Range
}
