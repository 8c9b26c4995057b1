package rig

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// startHosts starts daemons that do not run, and waits until they answer.
func (r *Rig) startHosts(ctx context.Context, names []string) error {
	var faults []error
	var started []Host
	for _, name := range names {
		h, pid, err := r.hosts.host(name)
		if err == nil && r.meet(ctx, h) == nil {
			continue // it runs
		}
		if err == nil && h.Start == "" {
			err = fmt.Errorf("%s: the hostfile does not say how it is started", name)
		}
		if err == nil {
			// Nobody waits for what the command leaves behind.
			err = r.hosts.run(ctx, h, fmt.Sprintf("%s || { %s\n} </dev/null >/dev/null 2>&1", runsCommand(pid), h.Start))
		}
		if faults = append(faults, err); err == nil {
			started = append(started, h)
		}
	}
	for _, h := range started {
		faults = append(faults, r.awaitHost(ctx, h))
	}
	return errors.Join(faults...)
}

// startPatience is how long a daemon may take until it answers after its start.
const startPatience = 30 * time.Second

// awaitHost waits until a daemon answers.
func (r *Rig) awaitHost(ctx context.Context, h Host) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := r.meet(ctx, h)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start of %s: %w", h.Name, err)
		case <-tick.C:
		}
	}
}

// mendAtOnce is how many daemons are mended at the same time.
const mendAtOnce = 16

// mendHosts leaves every daemon as it was.
func (r *Rig) mendHosts() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	faults := make([]error, len(r.hosts.cfg.Hosts))
	var all errgroup.Group
	all.SetLimit(mendAtOnce)
	for i, h := range r.hosts.cfg.Hosts {
		all.Go(func() error {
			faults[i] = r.mendHost(ctx, h)
			return nil
		})
	}
	return errors.Join(append(faults, all.Wait())...)
}

func (r *Rig) mendHost(ctx context.Context, h Host) error {
	var faults []error
	if h.Shell != "" {
		faults = append(faults, r.freezeHost(ctx, h.Name, syscall.SIGCONT))
	}
	if h.Start != "" {
		faults = append(faults, r.startHosts(ctx, []string{h.Name}))
	}
	if err := r.Clear(ctx, h.Name); !errors.Is(err, ErrNotRunning) {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}
