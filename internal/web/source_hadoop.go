package web

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/wire"
)

// StatusSource is the part of a Source for programs that read a job as a whole: Hadoop's API.
type StatusSource interface {
	// Status returns a job with all its tasks, their counters, and the properties that were set.
	Status(ctx context.Context, job string) (Answer[*wire.JobStatus], error)
}

// NoStatus is the StatusSource of a program that does not serve Hadoop's API.
type NoStatus struct{}

var _ StatusSource = NoStatus{}

// Status implements StatusSource.
func (NoStatus) Status(context.Context, string) (a Answer[*wire.JobStatus], err error) {
	return a, fmt.Errorf("jobs are not served by Hadoop's API here: %w", ErrUnavailable)
}
