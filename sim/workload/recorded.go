package workload

import (
	"cmp"
	"context"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/storage"
)

// RecordedJob is a job of a history as it ran. Times are ms since the first submission.
type RecordedJob struct {
	ID, Pool       string
	Submit, Finish int64
	Slots          []SlotTime // of all attempts
}

// SlotTime is a time for which an attempt had a slot, ms since the first submission.
type SlotTime struct {
	Kind       cluster.Slot
	Start, End int64
}

// ReadRecorded reads the jobs that ReadHistories reads, as they ran: with failed and killed
// attempts, and jobs that did not succeed. They are in the order of submission.
func ReadRecorded(ctx context.Context, fsys storage.FS, name string, o Options) ([]RecordedJob, error) {
	h, err := readLog(ctx, fsys, name, &o)
	if err == nil {
		err = h.sort()
	}
	if err == nil {
		err = h.err()
	}
	if err != nil {
		return nil, err
	}
	jobs := make([]RecordedJob, len(h.logged))
	for i := range h.logged {
		j, first := &h.logged[i].job, h.logged[0].job.Submit
		jobs[i] = RecordedJob{ID: j.ID, Pool: j.Pool, Submit: j.Submit - first, Finish: max(j.finish, j.Submit) - first}
		for _, t := range j.tasks {
			kind := cluster.MapSlot
			if t.reduce {
				kind = cluster.ReduceSlot
			}
			for _, a := range t.attempts {
				jobs[i].Slots = a.addSlots(jobs[i].Slots, kind, first, j.finish)
			}
		}
	}
	return jobs, nil
}

// addSlots adds the times for which an attempt had its slot. An attempt without an end had it until the
// job ended.
func (a *loggedAttempt) addSlots(list []SlotTime, kind cluster.Slot, first, finish int64) []SlotTime {
	if a.start == 0 {
		return list
	}
	times := append([]int64{a.start}, a.pauses...) // it gets the slot, and loses it, in turn
	if len(times)%2 == 1 {
		times = append(times, max(cmp.Or(a.finish, finish), times[len(times)-1]))
	}
	for slot := range slices.Chunk(times, 2) {
		list = append(list, SlotTime{kind, slot[0] - first, slot[1] - first})
	}
	return list
}

// pausesOf returns when each attempt was suspended and resumed, in turn, by its id.
func pausesOf(events []apidoc.Event) map[string][]int64 {
	pauses := make(map[string][]int64)
	for _, e := range events {
		suspended := len(pauses[e.Attempt])%2 == 1
		if e.Kind == board.EventSuspend.String() && !suspended || e.Kind == board.EventResume.String() && suspended {
			pauses[e.Attempt] = append(pauses[e.Attempt], e.At)
		}
	}
	return pauses
}
