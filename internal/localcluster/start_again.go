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
	started := make(map[*Process]*child)
	var errs []error
	for _, name := range names {
		p, process := c.daemon(name)
		switch {
		case process == nil:
			errs = append(errs, fmt.Errorf("no daemon %q in the cluster of %s", name, c.dir))
			continue
		case process.Alive():
			continue
		}
		child, err := p.start(c.starter, c.cfg.Detach)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c.children = append(c.children, child)
		*process, started[process] = child.process, child
	}
	for process, child := range started {
		errs = append(errs, child.awaitReady(ctx))
		*process = child.process
	}
	return errors.Join(append(errs, c.publish())...) // ready or not: Down ends what is written there
}

// daemon returns the program of a daemon, and its process in State; nil for an unknown name.
// The program comes from the layout.
func (c *Cluster) daemon(name string) (program, *Process) {
	for _, m := range c.layout.Masters {
		if i := slices.IndexFunc(c.State.Masters, func(s Master) bool { return s.ID == name }); m.ID == name && i >= 0 {
			return c.layout.master(c.cfg, m), &c.State.Masters[i].Process
		}
	}
	for _, n := range c.layout.Tasknodes {
		if i := slices.IndexFunc(c.State.Tasknodes, func(s Tasknode) bool { return s.Name == name }); n.Name == name && i >= 0 {
			return c.layout.tasknode(c.cfg, n), &c.State.Tasknodes[i].Process
		}
	}
	return program{}, nil
}
