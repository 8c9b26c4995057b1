package web

import (
	"context"

	"github.com/hammr/hammr/internal/apidoc"
)

// WorkSource is the part of Source that reduces what is known of the tasks of a job, of which there
// may be very many, to what a reader wants.
type WorkSource interface {
	// TaskEvents returns what has happened to the attempts at a task, the oldest first.
	TaskEvents(ctx context.Context, job, task string) (Answer[apidoc.Events], error)
	// TaskSummary returns quantiles over the finished tasks of a job: a group for each stage or, if
	// byNode is set, for each stage and tasknode.
	TaskSummary(ctx context.Context, job string, byNode bool) (Answer[[]TaskGroup], error)
}

// WorkOf is a WorkSource that reads the events and the columns of a Source. It is for sources that
// have them at hand.
type WorkOf struct {
	Source interface {
		Events(ctx context.Context, job string) (Answer[apidoc.Events], error)
		Columns(ctx context.Context, job string) (Answer[*apidoc.TaskColumns], error)
	}
}

// TaskEvents implements WorkSource.
func (w WorkOf) TaskEvents(ctx context.Context, job, task string) (Answer[apidoc.Events], error) {
	a, err := w.Source.Events(ctx, job)
	a.Value = a.Value.OfTask(task)
	return a, err
}

// TaskSummary implements WorkSource.
func (w WorkOf) TaskSummary(ctx context.Context, job string, byNode bool) (Answer[[]TaskGroup], error) {
	a, err := w.Source.Columns(ctx, job)
	if err != nil {
		return Answer[[]TaskGroup]{}, err
	}
	return Answer[[]TaskGroup]{Value: SummarizeTasks(a.Value, byNode), At: a.At, Stale: a.Stale}, nil
}
