package leader

import (
	"context"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/source/answers"
)

// status returns a job with all its tasks.
func (s *Source) status(ctx context.Context, q docs.JobID) (docs.Answer[*wire.JobStatus], error) {
	return answers.Ask(ctx, s.large, "status "+q.Job, func(ctx context.Context) (a docs.Answer[*wire.JobStatus], fresh time.Duration, err error) {
		a.Value, err = docs.Status.From(ctx, s.client, q)
		return a, s.ageOf(a.Value), classify(err)
	})
}

// finishedAge is how long the status of a finished job is fresh.
const finishedAge = time.Minute

// ageOf returns how long the status of a job is fresh.
func (s *Source) ageOf(status *wire.JobStatus) time.Duration {
	if status.GetState().Final() {
		return max(finishedAge, s.cfg.Age)
	}
	return s.cfg.Age
}
