package localcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Start starts those of the named daemons that do not run. It starts all before it waits for
// any, because masters need each other, and returns when they are ready. It changes State;
// only one goroutine may call it at a time.
//
// Unlike Up it continues when one daemon fails: it waits until the others are ready, and
// returns the errors of all.
func (c *Cluster) Start(ctx context.Context, names ...string) error {
	unlock, err := lock(ctx, c.dir)
	if err != nil {
		return err
	}
	defer unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.StartTimeout, fmt.Errorf("timed out after %v", c.cfg.StartTimeout))
	defer cancel()
	masters, tasknodes := c.members()
	members := slices.Concat(masters, tasknodes)
	var started []*member
	var errs []error
	for _, name := range names {
		i := slices.IndexFunc(members, func(m *member) bool { return m.Name == name })
		switch {
		case i < 0:
			errs = append(errs, fmt.Errorf("no daemon %q in the cluster of %s", name, c.dir))
		case members[i].process.Alive():
		default:
			if err := c.start(members[i]); err != nil {
				errs = append(errs, err)
				continue
			}
			started = append(started, members[i])
		}
	}
	for _, m := range started {
		errs = append(errs, m.awaitReady(ctx))
	}
	return errors.Join(append(errs, c.publish())...) // ready or not: Down ends what is written there
}
