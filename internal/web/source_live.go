package web

import (
	"context"

	"github.com/hammr/hammr/internal/apidoc"
)

// SampleSource has the use of slots over time.
type SampleSource interface {
	// Samples returns samples of the last 24 hours.
	Samples(ctx context.Context, q SampleQuery) (Answer[apidoc.Samples], error)
}

// SampleQuery selects samples.
type SampleQuery struct {
	Pool string // a pool, or AllSeries; "" for the whole cluster
	From int64  // ms since the epoch
	Step int64  // ms; rounded up to an interval that the master keeps
}

// AllSeries selects the samples of the cluster and of all pools. It is not the name of a pool.
const AllSeries = "*"
