package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/chaos"
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
	if plan.HDFS {
		errs = append(errs, errors.New("the plan has an HDFS of its own, which the cluster of a hostfile does not use"))
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
	reason := notOnHosts(f)
	if reason == "" {
		reason = missingOnHost(cluster, f)
	}
	if reason != "" {
		return fmt.Errorf("%s: not on a cluster of a hostfile: %s", f, reason)
	}
	return nil
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
