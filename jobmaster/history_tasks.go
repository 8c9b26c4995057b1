package jobmaster

import (
	"context"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/preempt"
)

// askHistory fills in the history of a job that is over: its tasks, and what only histories have.
func (m *Master) askHistory(ctx context.Context, id cluster.JobID, h *history.Job) error {
	if err := m.askTasks(ctx, id.String(), h.Status); err != nil {
		return err
	}
	layout, err := ask(ctx, m, func() (*historyLayout, error) {
		j, err := m.jobWithTasks(id.String())
		if err != nil {
			return nil, err
		}
		return &historyLayout{j.CounterNames, m.record(id).inputs, taskChunks(j)}, nil
	})
	if err != nil {
		return err
	}
	for _, name := range layout.names {
		h.CounterNames = append(h.CounterNames, counter.ID{Group: name.Group, Name: name.Name})
	}
	events := m.board.SnapshotOf(id)
	h.SetEvents(events, id)
	for _, c := range layout.chunks {
		copied, err := ask(ctx, m, func() ([]historyTask, error) {
			j, err := m.jobWithTasks(id.String())
			if err != nil {
				return nil, err
			}
			return c.copyHistory(j), nil
		})
		if err != nil {
			return err
		}
		for i := range copied {
			copied[i].addTo(h, events, layout.inputs)
		}
	}
	return nil
}

// historyLayout is what a history needs before its tasks.
type historyLayout struct {
	names  []cluster.CounterName
	inputs []history.Input // by split; nil if unknown
	chunks []taskChunk
}

// historyTask is a copy of what a history has of a task, beside its status.
type historyTask struct {
	history.Task
	id     cluster.TaskID
	splits []int // numbers of the splits that it reads
	ranged bool  // it reads the range of the only split
	start  int64 // offset of the range
	end    int64
}

// copyHistory copies a chunk.
func (c taskChunk) copyHistory(j *cluster.Job) []historyTask {
	stage := j.Stages[c.stage]
	tasks := stage.Tasks[c.first:min(c.first+chunkTasks, len(stage.Tasks))]
	out := make([]historyTask, 0, len(tasks))
	for _, t := range tasks {
		task := historyTask{id: t.ID, ranged: t.Ranged, start: t.Range.Start.Offset, end: t.Range.End.Offset}
		task.Counters = t.Counts
		if t.Output != nil {
			task.Bytes, task.Records = t.Output.Bytes, t.Output.Records
		}
		for _, source := range j.SourcesOf(t) {
			task.splits = append(task.splits, source.Split)
		}
		for _, a := range t.Attempts {
			task.Attempts = append(task.Attempts, history.Attempt{From: a.From, MovedTo: a.MovedTo, End: endOf(a)})
		}
		out = append(out, task)
	}
	return out
}

// endOf returns the event that ended an attempt, "" if it has not ended.
func endOf(a *cluster.Attempt) string {
	kind := board.EventKill
	switch {
	case a.Active():
		return ""
	case a.Revoked():
		kind = board.EventRevoke
	case a.Status() == cluster.StatusSucceeded && a.PreemptRequested() && a.PreemptMode == preempt.Split:
		kind = board.EventSplit
	case a.Status() == cluster.StatusSucceeded:
		kind = board.EventFinish // also if its output was lost later
	case a.Lost():
		kind = board.EventLose
	case a.Status() == cluster.StatusFailed:
		kind = board.EventFail
	case a.WorkKept():
		kind = board.EventCheckpoint
	case a.WorkLost():
		kind = board.EventPreempt
	}
	return kind.String()
}

// addTo adds the task to a history, with the places of its attempts and its input.
func (t *historyTask) addTo(h *history.Job, events *board.Snapshot, inputs []history.Input) {
	known, _ := events.Attempts(t.id) // none if the state does not have the job any more
	for i := range min(len(known), len(t.Attempts)) {
		if known[i].Place != board.PlaceUnknown {
			t.Attempts[i].Place = known[i].Place.String()
		}
	}
	t.Input = t.input(inputs)
	h.Tasks = append(h.Tasks, t.Task)
}

// input returns what the task reads, nil if it reads no file or the splits are unknown.
func (t *historyTask) input(inputs []history.Input) *history.Input {
	var in history.Input
	for _, n := range t.splits {
		if n >= len(inputs) {
			return nil
		}
		if split := inputs[n]; in.Files == 0 {
			in = split
		} else {
			in.Length, in.Files = in.Length+split.Length, in.Files+split.Files
		}
	}
	switch {
	case in.File == "":
		return nil
	case in.Files == 1 && t.ranged:
		in.Start, in.Length = t.start, max(0, min(t.end, in.Start+in.Length)-t.start)
	}
	return &in
}

// keepInputs keeps what the history of a job needs of its splits. A leader that has not set the job
// up does not know them: the file of the splits is removed when the job is over.
func (m *Master) keepInputs(r *record) {
	if m.cfg.HistoryDir == "" || r.inputs != nil || r.splits == nil {
		return
	}
	r.inputs = make([]history.Input, len(r.splits))
	for i, s := range r.splits {
		in := &r.inputs[i]
		for _, p := range s.Parts {
			if in.Files == 0 {
				in.File, in.Start = splits.DecodePath(p.Path), p.Start
			}
			in.Length, in.Files = in.Length+p.Length, in.Files+1
		}
	}
}
