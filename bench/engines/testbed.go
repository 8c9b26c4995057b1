package engines

import (
	"context"
	"errors"
	"slices"

	"github.com/hammr/hammr/bench/live"
)

// OnTestbed starts a cluster on the machines of a testbed, with a number of slots of each kind on
// each, and runs the comparison there. If YARN does not start, the engines that need it are left out.
func (c *Comparison) OnTestbed(ctx context.Context, b *live.Testbed, slots int) (s *Samples, err error) {
	cfg := live.Config{Testbed: b, Tasknodes: b.Tasknodes(), MapSlots: slots, ReduceSlots: slots}
	cfg.Yarn = slices.ContainsFunc(c.Engines, func(name string) bool { return name != "hammr" })
	m := Machines{Tasknodes: cfg.Tasknodes, Slots: slots}
	cluster, err := live.Start(ctx, cfg)
	if err != nil && cfg.Yarn && ctx.Err() == nil {
		m.NoYARN, cfg.Yarn = err, false
		cluster, err = live.Start(ctx, cfg)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	m.Hammr, m.Files = cluster.Program(), cluster.Files()
	if cfg.Yarn {
		if m.YARN, err = cluster.Yarn(ctx); err != nil {
			return nil, err
		}
		m.Memory = cluster.YarnMemory()
	}
	return c.Run(ctx, &m)
}
