package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/sim/results"
)

// benchLatency has the flags of `hammr bench latency`. An empty only means all kinds of
// orders.
type benchLatency struct {
	out, only string
	orders    int
}

// newBenchLatency starts a cluster for each kind of order and asks its jobmaster as a client
// does.
func newBenchLatency() *cobra.Command {
	var b benchLatency
	cmd := &cobra.Command{
		Use:   "latency --out DIR",
		Short: "Measure the time from a preemption order to the next task in the slot",
		Long: `Measure, on a cluster on this machine, the time from a preemption order to the
start of the task that gets the slot. Each kind of order has a cluster of its
own. 40 orders of each kind take a quarter of an hour.

DIR, which must not exist, gets latency.csv, a line for each order, and
environment.json. Percentiles are printed.`,
		Example: "  hammr bench latency --orders 20 --only split --out latency",
		Args:    cobra.NoArgs,
		RunE:    measures("latency", func() error { return checkNumber("orders", b.orders, b.out) }, b.run),
	}
	outFlag(cmd, &b.out)
	cmd.Flags().IntVar(&b.orders, "orders", 40, "`number` of orders of each kind")
	cmd.Flags().StringVar(&b.only, "only", "", "measure only kinds that have this `text` in their names (default all)")
	return cmd
}

// run measures the disk's write rate first. The time of a checkpoint depends on this rate,
// and the table shows both.
func (b *benchLatency) run(ctx context.Context, e experiment) error {
	if err := e.writeEnvironment(b.out, map[string]string{"orders": fmt.Sprint(b.orders)}); err != nil {
		return err
	}
	rate, err := live.DiskRate(e.scratch)
	if err != nil {
		return err
	}
	// A slow disk explains long checkpoints, so the rate is shown before the first order.
	e.logf("the disk takes %.0f MB/s", rate/1e6)
	o := live.PreemptionLatency{Hammr: e.hammr, Work: e.scratch, Orders: b.orders, Logf: e.logf}
	var all []live.Latency // after an error, it has the kinds measured before the error
	for _, kind := range live.OrderKinds {
		if err != nil || !strings.Contains(kind.Name, b.only) {
			continue
		}
		e.logf("%s, %d times", kind.Name, b.orders)
		var list []live.Latency
		list, err = o.Measure(ctx, kind)
		all = append(all, list...)
	}
	return errors.Join(err,
		results.WriteNew(filepath.Join(b.out, "latency.csv"), func(w io.Writer) error { return live.WriteLatencies(w, all, rate) }),
		live.WriteLatencyTable(e.stdout, all, rate),
	)
}
