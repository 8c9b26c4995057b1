package live

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// Bench runs experiments on clusters of this machine or of a Testbed. Each of them returns a line for each
// sample, and a summary. With an error it returns those of what was measured before, because
// each sample has taken minutes.
type Bench struct {
	Hammr string // file of the hammr program, which starts daemons and commands
	Work  string // directory for clusters and their input
	Keep  string // directory for histories and logs; "" for none
	N     int    // number of repetitions
	Logf  func(format string, args ...any)

	Testbed *Testbed // the machines of the clusters; nil for this machine
}

// stepTimeout bounds every step of an experiment.
const stepTimeout = 2 * time.Minute

// submit submits a job with the arguments of hammr submit, and returns its id.
func (c *Cluster) submit(ctx context.Context, args ...string) (id string, err error) {
	return c.Program().Run(ctx, append([]string{"submit"}, args...)...)
}

// awaitStep waits until a job is as wanted. The error says which step was too slow.
func (c *Cluster) awaitStep(ctx context.Context, what, job string, wanted func(*wire.JobStatus) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("not within %v: %s", stepTimeout, what))
	defer cancel()
	_, err := c.AwaitJob(ctx, job, wanted)
	return err
}
