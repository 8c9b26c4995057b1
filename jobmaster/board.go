package jobmaster

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/board"
	"github.com/hammr/hammr/internal/docs/history"
)

// Board returns the board of this master, for readers outside the loop. Followers have the same
// board as the leader, as old as the last entry that they have applied.
func (m *Master) Board() *board.Board { return m.board }

// newBoard returns an empty board.
func newBoard(cfg Config, onLoss func(apidoc.Loss)) *board.Board {
	return board.New(board.Config{
		OnLoss:       onLoss,
		Summary:      boardSummary,
		InputRecords: []cluster.CounterName{cluster.CounterName(counter.MapInputRecords), cluster.CounterName(counter.ReduceInputRecords)},
		Spilled:      []cluster.CounterName{cluster.CounterName(counter.SpilledRecords)},
		InputBytes:   []cluster.CounterName{cluster.CounterName(counter.BytesRead)},
		Now:          cfg.Now,
	})
}

// logLoss logs the loss of a tasknode, and when its tasks have recovered, on the leader.
func (m *Master) logLoss(l apidoc.Loss) {
	if m.lead == nil {
		return
	}
	about := []any{"tasknode", l.Node, "cause", l.Cause, "running", l.Running, "outputs", l.Outputs}
	if l.CorrectMillis == nil {
		m.cfg.Logger.Warn("tasknode lost", about...)
		return
	}
	m.cfg.Logger.Info("no task of a lost tasknode waits any more", append(about, "after", time.Duration(*l.CorrectMillis)*time.Millisecond,
		"started", l.Started, "restored", l.Restored, "dropped", l.Dropped, "maps", l.Maps, "local", l.Local)...)
}

// boardSummary reads the summary of an archived job; zero if a master of another version wrote it in
// another form.
func boardSummary(line []byte) board.Summary {
	var s history.Summary
	if json.Unmarshal(line, &s) != nil {
		return board.Summary{}
	}
	return board.Summary{
		Name: s.Name, OutputDir: s.OutputDir, StartedAt: s.StartTime,
		Tasks: [2]int{int(s.Maps), int(s.Reduces)}, Finished: [2]int{int(s.MapsDone), int(s.ReducesDone)},
	}
}

// commitToBoard updates the board after an entry that was applied, or whose job was condemned.
// err is that of applyEntry.
func (m *Master) commitToBoard(e cluster.Entry, delta cluster.Delta, err error) {
	switch {
	case errors.Is(err, cluster.ErrInternal):
		m.containBoard(func() { m.board.Sync(e.At, m.view) })
	case err == nil:
		m.containBoard(func() { m.board.Commit(e, delta, m.view) })
	}
}

// containBoard calls do, which updates the board. If do panics, the board starts over from the
// state: a mistake in what readers see must not stop the masters.
func (m *Master) containBoard(do func()) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		m.logPanic("panic while the board was updated: it starts over, and shows no events before", v)
		defer func() {
			if v := recover(); v != nil {
				m.logPanic("panic while the board was restored", v)
			}
		}()
		m.board.Restore(m.view)
	}()
	do()
}
