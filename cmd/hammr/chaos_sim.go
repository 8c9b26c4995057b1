package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/hammr/hammr/chaos/simulate"
)

// simulate plays the plans in virtual time.
func (c *chaosRun) simulate(ctx context.Context, out io.Writer) error {
	bad, began := 0, time.Now()
	for i := 0; c.more(ctx, i, began); i++ {
		plan := c.planOf(i)
		r, err := simulate.Run(ctx, plan)
		if err != nil {
			return err
		}
		for _, f := range r.NotModelled {
			fmt.Fprintf(out, "  %s\n", f)
		}
		for _, l := range r.Result.Lost {
			fmt.Fprintf(out, "  machine %d is lost at %d ms\n", l.Node+1, l.At)
		}
		for _, j := range r.Result.Jobs {
			fmt.Fprintf(out, "  job %s is %v after %d ms\n", j.ID, j.State, j.Sojourn())
		}
		if r.Wrong != "" {
			fmt.Fprintf(out, "  wrong: %s\n", r.Wrong)
		}
		word := "good"
		if !r.Good {
			bad, word = bad+1, "bad"
		}
		fmt.Fprintf(out, "seed %d, %d of %d faults played, %d ms of work lost, lost tasks run again within %d ms: %s\n",
			plan.Seed, len(r.Played), len(plan.Faults), r.WorkLost, r.Recovery, word)
	}
	if bad > 0 {
		return exitError(exitFailed)
	}
	return nil
}
