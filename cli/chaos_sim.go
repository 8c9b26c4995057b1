package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/simulate"
)

// simulate plays the plans in virtual time. With --report it writes the same files as a
// drill on a cluster; otherwise it prints the verdicts.
func (c *chaosRun) simulate(ctx context.Context, out io.Writer) error {
	if c.report != "" {
		return c.drills(ctx, simulated, out)
	}
	return c.each(ctx, out, func(_ int, plan *chaos.Plan) (*chaos.Verdict, error) {
		r, err := simulate.Run(ctx, plan)
		if err != nil {
			return nil, err
		}
		printRow(out, chaos.RowOf(plan, r.Verdict))
		fmt.Fprint(out, r)
		return r.Verdict, nil
	})
}

// simulated plays a plan in virtual time and writes its report. The report has the files of
// a real drill, without logs and histories, so that tools read both.
func simulated(ctx context.Context, plan *chaos.Plan, dir string) (*chaos.Verdict, error) {
	r, err := simulate.Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	return r.Verdict, errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "plan"), plan.Format(), 0o644),
		os.WriteFile(filepath.Join(dir, "verdict.json"), text, 0o644),
	)
}
