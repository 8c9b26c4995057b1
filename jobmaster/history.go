package jobmaster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// readHistory returns the final status of an archived or retired job. If the history of a job
// was removed, the job is unknown.
func (m *Master) readHistory(ctx context.Context, id cluster.JobID) (*wire.JobStatus, error) {
	finishedAt, err := local(ctx, m, func() (int64, error) {
		if j := m.view.Job(id); j != nil {
			return j.FinishedAt, nil
		}
		return 0, nil
	})
	if err != nil {
		return nil, err
	}
	if m.cfg.HistoryDir == "" {
		return nil, fmt.Errorf("%w: %v is over, and the status of older jobs is not kept: this cluster writes no histories", cluster.ErrUnknown, id)
	}
	release, err := m.startLargeAnswer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	f, err := m.openHistory(ctx, id, finishedAt)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %v is over and its history in %s was removed; histories are kept for %v (--retention)", cluster.ErrUnknown, id, m.cfg.HistoryDir, m.settings().Retention)
	case err != nil:
		return nil, err
	}
	defer f.Close() // the file was only read
	h, err := history.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("history of %v in %s: %w", id, m.cfg.HistoryDir, err)
	}
	return h.Status, nil
}
