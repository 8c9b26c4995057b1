package leader

import (
	"context"
	"time"

	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/wire"
)

// Status implements web.StatusSource.
func (s *Source) Status(ctx context.Context, job string) (web.Answer[*wire.JobStatus], error) {
	return ask(ctx, s.large, "status "+job, func(ctx context.Context) (*wire.JobStatus, time.Duration, error) {
		status, err := s.client.Job(ctx, job, true)
		if err != nil {
			return nil, 0, classify(err)
		}
		return status, s.ageOf(status), nil
	})
}
