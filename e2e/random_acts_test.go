//go:build soak || accept

package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// soakSeed returns HAMMR_SOAK_SEED, or the current time if it is not set.
func soakSeed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().Unix())
	if text := os.Getenv("HAMMR_SOAK_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		must.Do(t, err)
	}
	return seed
}

// errNothing is the error of an act that finds nothing to act on.
var errNothing = errors.New("nothing is there for it")

// anyRunning returns one of the attempts that run, with its job.
func (c *rigged) anyRunning(ctx context.Context, random *rand.Rand) (attempt, job string, err error) {
	jobs, err := docs.AllJobs.From(ctx, c.client, docs.AllQuery{})
	if err != nil {
		return "", "", err
	}
	var running [][2]string
	for _, listed := range jobs {
		j, err := docs.Status.From(ctx, c.client, docs.JobID{Job: listed.JobID})
		if err != nil {
			return "", "", err
		}
		for _, task := range j.Tasks {
			for _, a := range task.Attempts {
				if a.State == wire.AttemptState_ATTEMPT_RUNNING && !a.Suspended && !a.Preempting {
					running = append(running, [2]string{a.Id, j.JobId})
				}
			}
		}
	}
	if len(running) == 0 {
		return "", "", errNothing
	}
	one := running[random.IntN(len(running))]
	return one[0], one[1], nil
}

// preemptAny preempts one of the running attempts by a mode.
func (c *rigged) preemptAny(ctx context.Context, random *rand.Rand, mode string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	attempt, _, err := c.anyRunning(ctx, random)
	if err == nil {
		_, err = c.client.Change(ctx, wire.NewChange("attempt.preempt", attempt, mode))
	}
	return err
}

// kill kills daemons and restarts them after a while.
func (c *rigged) kill(ctx context.Context, away time.Duration, names ...string) error {
	for _, name := range names {
		if err := c.rig.Kill(ctx, name); err != nil {
			return err
		}
	}
	wait(ctx, away)
	return c.rig.Start(context.WithoutCancel(ctx), names...)
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
