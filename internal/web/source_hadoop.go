package web

import (
	"context"

	"github.com/hammr/hammr/internal/web/hadoop"
	"github.com/hammr/hammr/internal/wire"
)

// StatusSource is the part of a Source for programs that read a job as a whole: Hadoop's API.
type StatusSource interface {
	// Status returns a job with all its tasks, their counters, and the properties that were set.
	Status(ctx context.Context, job string) (Answer[*wire.JobStatus], error)
}

// TaskListSource is a Source that can list the tasks of a job without holding the status of all of them.
type TaskListSource interface {
	TaskList(ctx context.Context, job string) (Answer[hadoop.TaskList], error)
}
