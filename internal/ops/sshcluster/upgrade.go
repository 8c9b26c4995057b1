package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Upgrade replaces the program of all daemons while jobs run:
//
//	copy ─► followers, one by one ─► leadership moves ─► the old leader
//	     ─► tasknodes, one by one: drained ─► restarted ─► admitted
//
// A daemon that runs the new program already is left alone, so the same command continues an
// upgrade that was interrupted. deadline bounds the time until a tasknode is drained.
func (c *Cluster) Upgrade(ctx context.Context, deadline time.Duration) error {
	if err := c.answered(); err != nil {
		return err
	}
	prog, err := openProgram(c.cfg.Program)
	if err != nil {
		return err
	}
	if err := c.checkUpgrade(prog); err != nil {
		return err
	}
	u := &upgrade{Cluster: c, program: prog, deadline: deadline}
	err = c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		if c.surveys[i].program == prog.hash {
			return nil
		}
		return c.send(ctx, &c.plan.Hosts[i], prog)
	})
	if err != nil {
		return err
	}
	if c.cfg.DryRun != nil {
		return u.print(ctx)
	}
	if err := u.startStopped(ctx); err != nil {
		return err
	}
	return c.withMasters(ctx, func(a Admin) error {
		if err := u.masters(ctx, a); err != nil {
			return err
		}
		return u.tasknodes(ctx, a)
	})
}

// checkUpgrade reports machines that cannot be upgraded.
func (c *Cluster) checkUpgrade(prog *program) error {
	errs := []error{c.plan.Validate()}
	for i := range c.plan.Hosts {
		h, s := &c.plan.Hosts[i], c.surveys[i]
		errs = append(errs, s.check(h, prog))
		for _, role := range h.hammrRoles() {
			if s.daemon(role).State == Absent {
				errs = append(errs, fmt.Errorf("%s: its %s was never started; run 'hammr cluster start' first", h.Name, role))
			}
		}
	}
	return errors.Join(errs...)
}

// upgrade is a running upgrade.
type upgrade struct {
	*Cluster
	program  *program
	deadline time.Duration
}

// current reports whether a daemon runs the new program.
func (u *upgrade) current(i int, role string) bool {
	d := u.surveys[i].daemon(role)
	return d.State == Running && d.Program == u.program.hash
}

// startStopped starts daemons without a process, which an interrupted upgrade has left. The
// masters need their majority before another of them stops.
func (u *upgrade) startStopped(ctx context.Context) error {
	for _, role := range hammrRoles {
		hosts := u.where(func(i int) bool { return u.has(i, role) && u.surveys[i].daemon(role).State != Running })
		err := u.each(ctx, hosts, func(ctx context.Context, i int) error {
			err := u.launchDaemon(ctx, i, role)
			if err == nil && u.surveys[i].daemon(role).State == Stopped {
				u.surveys[i].daemons[role] = DaemonStatus{State: Running, Program: u.program.hash}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// masters upgrades the masters, the leader last.
func (u *upgrade) masters(ctx context.Context, a Admin) error {
	leader, err := u.awaitLeader(ctx, a, "")
	if err != nil {
		return err
	}
	old := u.where(func(i int) bool { return u.has(i, hostfile.Jobmaster) && !u.current(i, hostfile.Jobmaster) })
	for _, i := range old {
		if u.plan.Hosts[i].Jobmaster == leader {
			continue
		}
		if err := u.restartMaster(ctx, a, i); err != nil {
			return err
		}
	}
	for _, i := range old {
		id := u.plan.Hosts[i].Jobmaster
		if id != leader {
			continue
		}
		if len(u.plan.Masters()) > 1 {
			if err := client.Change(ctx, a, "master.transfer", "", ""); err != nil {
				return fmt.Errorf("transfer of leadership from %s: %w", id, err)
			}
			if _, err := u.awaitLeader(ctx, a, id); err != nil {
				return err
			}
		}
		if err := u.restartMaster(ctx, a, i); err != nil {
			return err
		}
	}
	return nil
}

// awaitLeader returns the id of the leader once there is one other than a given master.
func (u *upgrade) awaitLeader(ctx context.Context, a Admin, other string) (leader string, err error) {
	err = u.await(ctx, u.cfg.Timeout, func(ctx context.Context) (bool, error) {
		info, err := a.Info(ctx)
		if err == nil {
			leader = info.Leader
		}
		return leader != "" && leader != other, err
	})
	if errors.Is(err, errLate) {
		return "", fmt.Errorf("the masters have no leader after %v; see 'hammr master status'", u.cfg.Timeout)
	}
	return leader, err
}

// restartMaster restarts a master with the new program. It returns when the master knows a
// leader again.
func (u *upgrade) restartMaster(ctx context.Context, a Admin, i int) error {
	if err := u.restart(ctx, i, hostfile.Jobmaster); err != nil {
		return err
	}
	_, err := u.awaitLeader(ctx, a, "")
	return err
}

// restart ends a daemon, starts it, and waits until it is ready.
func (u *upgrade) restart(ctx context.Context, i int, role string) error {
	begin, h := time.Now(), &u.plan.Hosts[i]
	_, err := u.act(ctx, h,
		fmt.Sprintf("halt %s %d", role, int(u.cfg.Timeout.Seconds())),
		"launch "+role, fmt.Sprintf("await %s %d", role, int(u.cfg.Timeout.Seconds())))
	if err == nil && u.cfg.DryRun == nil {
		u.cfg.Progress(h.Name, fmt.Sprintf("%s %s runs the new program, ready after %v", role, h.DaemonName(role), time.Since(begin).Round(10*time.Millisecond)))
	}
	return err
}

// tasknodes upgrades the tasknodes one by one.
func (u *upgrade) tasknodes(ctx context.Context, a Admin) error {
	for i := range u.plan.Hosts {
		if !u.has(i, hostfile.Tasknode) {
			continue
		}
		var err error
		if !u.current(i, hostfile.Tasknode) {
			err = u.upgradeTasknode(ctx, a, i)
		} else if u.surveys[i].upgrading {
			err = u.admit(ctx, a, i)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// upgradeTasknode drains a tasknode, restarts it and admits it. A tasknode that the user has
// removed stays removed. The mark on its machine says that it is this upgrade that drains it.
func (u *upgrade) upgradeTasknode(ctx context.Context, a Admin, i int) error {
	h := &u.plan.Hosts[i]
	n, err := docs.Node.From(ctx, a, docs.NodeID{Node: h.Name})
	if err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	removed := excluded(n) && !u.surveys[i].upgrading
	if !removed {
		if _, err := u.act(ctx, h, `: >"$dir/upgrading"`); err != nil {
			return err
		}
		if err := u.drain(ctx, a, h, n); err != nil {
			return err
		}
	}
	if err := u.restart(ctx, i, hostfile.Tasknode); err != nil || removed {
		return err
	}
	return u.admit(ctx, a, i)
}

// excluded reports whether a tasknode gets no tasks because an operator wants that.
func excluded(n apidoc.Tasknode) bool {
	return n.State == "DECOMMISSIONING" || n.State == "DECOMMISSIONED"
}

// drain moves everything off a tasknode. The last tasknode cannot be drained; it is restarted
// if it runs nothing.
func (u *upgrade) drain(ctx context.Context, a Admin, h *Host, n apidoc.Tasknode) error {
	err := client.Change(ctx, a, "node.drain", h.Name, "")
	if errors.Is(err, client.ErrRefused) {
		if len(n.Attempts) == 0 {
			return nil
		}
		return fmt.Errorf("%s: it runs %d attempts and cannot be drained: %w; wait for the jobs or suspend them with 'hammr job suspend', and repeat the command", h.Name, len(n.Attempts), err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	err = u.await(ctx, u.deadline, func(ctx context.Context) (bool, error) {
		var err error
		n, err = docs.Node.From(ctx, a, docs.NodeID{Node: h.Name})
		return err == nil && n.State == "DECOMMISSIONED", err
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("%s: %d attempts, %d outputs and %d checkpoints are left on it after %v; repeat the command to continue, or give it tasks again with 'hammr node add %s'",
			h.Name, len(n.Attempts), len(n.Outputs), len(n.Checkpoints), u.deadline, h.Name)
	}
	return err
}

// admit gives tasks to a tasknode again once it has joined, and removes the mark of the
// upgrade.
func (u *upgrade) admit(ctx context.Context, a Admin, i int) error {
	h := &u.plan.Hosts[i]
	if err := client.Change(ctx, a, "node.admit", h.Name, ""); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	err := u.await(ctx, u.cfg.Timeout, func(ctx context.Context) (bool, error) {
		n, err := docs.Node.From(ctx, a, docs.NodeID{Node: h.Name})
		return err == nil && n.State == "RUNNING", err
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("%s: its tasknode has not joined after %v; see 'hammr node status %s'", h.Name, u.cfg.Timeout, h.Name)
	}
	if err != nil {
		return err
	}
	_, err = u.act(ctx, h, `rm -f "$dir/upgrading"`)
	return err
}

// print prints the restarts of a dry run, masters before tasknodes. Which master leads is
// known only when they run.
func (u *upgrade) print(ctx context.Context) error {
	for _, role := range hammrRoles {
		for _, i := range u.where(func(i int) bool { return u.has(i, role) && !u.current(i, role) }) {
			if err := u.restart(ctx, i, role); err != nil {
				return err
			}
		}
	}
	return nil
}
