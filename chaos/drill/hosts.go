package drill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/ops/testcluster"
)

// canPlayOnHosts reports every reason why a plan cannot be played on the cluster of a
// hostfile; nil if it can. A drill with more masters or tasknodes than the cluster has
// would choose targets that do not exist. One with fewer is allowed: its faults hit only
// the first ones.
func (s *Session) canPlayOnHosts(plan *chaos.Plan) error {
	var errs []error
	if masters, tasknodes := s.cfg.Cluster.Names(); plan.Masters > len(masters) || plan.Tasknodes > len(tasknodes) {
		errs = append(errs, fmt.Errorf("the plan is for %d masters and %d tasknodes, the hostfile has %d and %d", plan.Masters, plan.Tasknodes, len(masters), len(tasknodes)))
	}
	if plan.HDFS && s.cfg.Cluster.HDFS == "" {
		errs = append(errs, errors.New("the plan has an HDFS, and the cluster of the hostfile was not started with --with-hdfs"))
	}
	for _, f := range plan.Faults {
		if err := CanInject(s.cfg.Cluster, f); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// CanInject reports why a fault cannot be injected into the cluster of a hostfile; nil if
// it can. `hammr chaos run` also uses it to draw only faults that such a cluster accepts.
func CanInject(cluster *testcluster.HostConfig, f chaos.Fault) error {
	reason := ""
	switch {
	case cluster.Run != nil && byGuard(f):
		reason = notByGuard(f)
	default:
		if reason = notOnHosts(f); reason == "" {
			reason = missingOnHost(cluster, f)
		}
	}
	if reason != "" {
		return fmt.Errorf("%s: not on a cluster of a hostfile: %s", f, reason)
	}
	return nil
}

// byGuard reports whether the guard of a machine injects a fault, if the cluster has guards. Single
// daemons are killed and stopped over their own shell, since the drill starts them again and waits
// until they are ready.
func byGuard(f chaos.Fault) bool {
	daemon := f.Target.Role == chaos.Tasknode || f.Target.Role == chaos.Jobmaster
	switch f.Kind {
	case chaos.Kill, chaos.Stop, chaos.Restart:
		return !daemon
	}
	return chaos.SpecOf(f.Kind).OnMachine
}

// notByGuard returns why a fault that guards inject cannot be injected, "" if it can. What a task
// has written is known only on its machine.
func notByGuard(f chaos.Fault) string {
	switch {
	case f.Trigger.Event == chaos.AtSpill:
		return chaos.UnreachableFiles
	case f.Target.Role == chaos.DataNode && chaos.SpecOf(f.Kind).Link != nil:
		return "a DataNode shares the network of its machine, which can be the target"
	case f.For > guard.MaxFor:
		return fmt.Sprintf("a fault of a machine lasts up to %v", guard.MaxFor)
	}
	return ""
}

// injectByGuard injects a fault by the guards of machines. They end it in time also if this program
// does not: a fault without an end lasts as long as jobs may take.
func (d *drill) injectByGuard(ctx context.Context, f chaos.Fault) (in injection, err error) {
	role, names := f.Target.Role, []string(nil)
	switch role {
	case chaos.Task:
		a, err := d.drawAttempt(f.Target.Name)
		if err != nil {
			return in, err
		}
		names = []string{a.Machine}
	case chaos.NameNode:
		names = []string{string(role)}
	default:
		if names, err = d.targetDaemons(ctx, f.Target); err != nil {
			return in, err
		}
	}
	if stopsAttempts(f) {
		in.hit = d.watch.runningOn(names)
	}
	kind, lasts := f.Kind, cmp.Or(f.For, min(d.session.cfg.JobTimeout, guard.MaxFor))
	if kind == chaos.Restart {
		kind = chaos.Kill
	}
	words := []string{"inject", string(kind), "--role", string(role)}
	if by := f.Amounts(); by != "" {
		words = append(words, "--by", by)
	}
	if chaos.SpecOf(kind).Lasts {
		words = append(words, "--for", lasts.String())
	}
	ids := make(map[string]string)
	for _, name := range names {
		line, err := d.rig.Guard(ctx, name, words...)
		if err != nil {
			if strings.Contains(err.Error(), chaos.ErrNoTarget.Error()) {
				err = fmt.Errorf("%w: %w", chaos.ErrNoTarget, err)
			}
			return in, err
		}
		ids[name], _, _ = strings.Cut(line, ":")
	}
	in.target, in.at, in.guarded = strings.Join(names, "+"), time.Now(), true
	in.undo = func(ctx context.Context) (err error) {
		for name, id := range ids {
			_, ended := d.rig.Guard(ctx, name, "undo", id)
			err = errors.Join(err, ended)
		}
		if f.EndsDaemon() && role == chaos.Machine {
			err = errors.Join(err, d.restartDaemons(ctx, names))
		}
		return err
	}
	if !chaos.SpecOf(f.Kind).Lasts {
		err, in.undo = in.undo(ctx), nil
	}
	return in, err
}

// notOnHosts returns why a fault cannot be injected into any cluster of a hostfile, "" if it
// can. The hostfile gives a shell on each machine and the pages of its daemons, but no
// access to the processes and files of tasks.
func notOnHosts(f chaos.Fault) string {
	kind := chaos.SpecOf(f.Kind)
	switch {
	case kind.NotOnHosts != "":
		return kind.NotOnHosts
	case f.Trigger.Event == chaos.AtSpill:
		return chaos.UnreachableFiles
	case f.Target.Role == chaos.Task && !kind.RemoteTasks:
		return "the processes of its tasks are not known; set a failpoint, or preempt the task"
	case f.Target.Role != chaos.Task && f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Jobmaster:
		return "the hostfile names jobmasters and tasknodes only"
	}
	return ""
}

// missingOnHost returns what a line of the hostfile lacks for a fault; "" if it lacks nothing.
// Each daemon of the role needs it, since the target may be chosen when the fault is due.
func missingOnHost(cluster *testcluster.HostConfig, f chaos.Fault) string {
	for _, h := range cluster.Hosts {
		switch ends := f.EndsDaemon(); {
		case string(f.Target.Role) != h.Role:
		case (ends || chaos.SpecOf(f.Kind).NeedsShell) && h.Shell == "":
			return fmt.Sprintf("the line of %s names no shell for its machine", h.Name)
		case ends && h.Start == "":
			return fmt.Sprintf("the line of %s does not say how it is started again", h.Name)
		}
	}
	return ""
}

// start starts the drill's cluster, or attaches the one of the hostfile. With a hostfile
// cfg is not used: the cluster is as it is.
func (d *drill) start(ctx context.Context, cfg rig.Config) (err error) {
	if hosts := d.session.cfg.Cluster; hosts != nil {
		d.rig, err = rig.Attach(ctx, *hosts)
		return err
	}
	d.rig, err = rig.Start(ctx, cfg)
	return err
}
