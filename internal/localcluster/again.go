package localcluster

import (
	"context"
	"fmt"
	"slices"
)

// Start starts one daemon, by its name or id, that this cluster has and that does
// not run; one that runs is left as it is. It returns when the daemon is ready.
// It changes State, and may not be called by several goroutines at once.
func (c *Cluster) Start(ctx context.Context, name string) error {
	p, process := c.named(name)
	if process == nil {
		return fmt.Errorf("no daemon %q in the cluster of %s", name, c.dir)
	}
	unlock, err := lock(ctx, c.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if process.alive() {
		return nil
	}
	child, err := p.start(c.parent)
	if err != nil {
		return err
	}
	c.children = append(c.children, child)
	*process = child.process
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Patience, fmt.Errorf("it had %v", c.cfg.Patience))
	defer cancel()
	ready := child.awaitReady(ctx)
	*process = child.process
	if err := c.publish(c.layout); err != nil { // ready or not: down ends what is written there
		return err
	}
	return ready
}

// named is how a daemon is started, and where State has its process; nil for none.
func (c *Cluster) named(name string) (program, *Process) {
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

// Alive reports whether the very process that was started still runs; one that
// stands still does.
func (p Process) Alive() bool { return p.alive() }
