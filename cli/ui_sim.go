package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/web/local"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
)

// simulatedCluster is the id of the simulated cluster.
const simulatedCluster = "sim"

// simPages are the flags of `hammr ui --sim`.
type simPages struct {
	run    simRun // the workload, and a cluster with the defaults of `hammr sim run`
	policy string
	at     time.Duration
	speed  float64
}

// addFlags defines the flags.
func (s *simPages) addFlags(cmd *cobra.Command) {
	defaults := new(cobra.Command)
	s.run.addFlags(defaults)
	s.run.source.addFlags(defaults)
	flags := cmd.Flags()
	flags.StringVar(&s.run.source.file, "sim", "", "`file` of the jobs of a simulated cluster to show, or spec:…")
	flags.StringVar(&s.policy, "policy", "fifo", "its `policy`: "+strings.Join(registry.Names(), ", "))
	flags.IntVar(&s.run.cfg.Machines, "nodes", 20, "its `number` of machines")
	flags.DurationVar(&s.at, "at", 0, "simulated `time` at which it stops (default at the end of the last job)")
	flags.Float64Var(&s.speed, "speed", 0, "simulated `seconds` in a second (default as fast as possible)")
	completes(cmd, "policy", registry.Names())
}

// errStopped ends a simulation at the time of --at.
var errStopped = errors.New("the simulation has reached its time")

// serve simulates and serves the pages until ctx ends.
func (s *simPages) serve(ctx context.Context, address string, stdout io.Writer) error {
	s.run.policies, s.run.runs = []string{s.policy}, 1
	if s.at < 0 || s.speed < 0 {
		return usageError{fmt.Errorf("--at %v --speed %v: neither may be negative", s.at, s.speed)}
	}
	if err := s.prepare(); err != nil {
		return usageError{err}
	}
	follower, err := local.Follow(simulatedCluster)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	ctx, end := context.WithCancel(ctx)
	defer running.Wait()
	defer end()
	running.Go(func() { follower.Run(ctx) })
	url, stop, err := local.Serve(follower.Source(simulatedCluster, s.policy), "hammr ui --sim", address, follower.Now)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintln(stdout, url)
	if err := s.simulate(ctx, follower); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// prepare makes the workload and the policy.
func (s *simPages) prepare() (err error) {
	if err := errors.Join(s.run.configure(), s.run.source.check()); err != nil {
		return err
	}
	if s.run.first, err = s.run.source.load(s.run.cfg.Machines, s.run.cfg.Seed); err != nil {
		return err
	}
	if err := s.run.checkWorkload(s.run.first); err != nil {
		return err
	}
	s.run.made, err = s.run.makePolicies(s.run.first, s.run.cfg.Seed)
	return err
}

// simulate runs the simulation, whose entries the follower gets.
func (s *simPages) simulate(ctx context.Context, follower *local.Follower) error {
	cfg, began, first := s.run.cfg, time.Now(), int64(-1)
	cfg.Policy = s.run.made[0]
	cfg.OnEntries = func(batch []cluster.Entry) error {
		if len(batch) == 0 {
			return nil
		}
		at := batch[len(batch)-1].At
		if first < 0 {
			first = at
		}
		passed := time.Duration(at-first) * time.Millisecond
		if s.at > 0 && passed > s.at {
			return errStopped
		}
		if s.speed > 0 {
			if err := syncutil.Sleep(ctx, time.Until(began.Add(time.Duration(float64(passed)/s.speed)))); err != nil {
				return err
			}
		}
		return follower.Apply(ctx, batch)
	}
	_, err := sim.Run(ctx, cfg, s.run.first)
	if errors.Is(err, errStopped) || errors.Is(err, sim.ErrStuck) || ctx.Err() != nil {
		return nil
	}
	return err
}
