package drill

import (
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// canPlayOnHosts tells why a plan cannot be played on a cluster that runs already,
// every reason; nil when it can.
func (s *Session) canPlayOnHosts(plan *chaos.Plan) error {
	var faults []error
	masters, tasknodes := 0, 0
	for _, h := range s.cfg.Cluster.Hosts {
		if h.Role == rig.Jobmaster {
			masters++
		} else {
			tasknodes++
		}
	}
	if plan.Masters > masters || plan.Tasknodes > tasknodes {
		faults = append(faults, fmt.Errorf("the plan is for %d masters and %d tasknodes, the hostfile has %d and %d", plan.Masters, plan.Tasknodes, masters, tasknodes))
	}
	if plan.HDFS {
		faults = append(faults, errors.New("the plan has an HDFS of its own, which a cluster that runs already does not use"))
	}
	for _, f := range plan.Faults {
		if err := CanInject(s.cfg.Cluster, f); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// CanInject tells why a fault cannot be injected into a cluster that runs already;
// nil when it can.
func CanInject(cluster *rig.HostConfig, f chaos.Fault) error {
	why := notOnHosts(f)
	if why == "" {
		why = missingOnHost(cluster, f)
	}
	if why != "" {
		return fmt.Errorf("%s: not on a cluster of a hostfile: %s", f, why)
	}
	return nil
}

// notOnHosts is why a fault cannot be injected into a cluster that runs already, ""
// when it can.
func notOnHosts(f chaos.Fault) string {
	switch {
	case f.Kind == chaos.Partition || f.Kind == chaos.FullDisk:
		return "its daemons have no networks and disks that are the drill's to break"
	case f.Kind == chaos.Corrupt || f.Trigger.Event == chaos.AtSpill:
		return "the files of its tasks are out of reach"
	case f.Target.Role == chaos.Task && f.Kind != chaos.Preempt:
		return "the processes of its tasks are not known; set a failpoint, or preempt the task"
	case f.Target.Role != chaos.Task && f.Target.Role != chaos.Tasknode && f.Target.Role != chaos.Jobmaster:
		return "the hostfile names jobmasters and tasknodes only"
	}
	return ""
}

// missingOnHost is what a line of the hostfile lacks for a fault, "" for nothing.
func missingOnHost(cluster *rig.HostConfig, f chaos.Fault) string {
	for _, h := range cluster.Hosts {
		switch ends := f.EndsDaemon(); {
		case string(f.Target.Role) != h.Role:
		case (ends || f.Kind == chaos.Stop) && h.Shell == "":
			return fmt.Sprintf("the line of %s names no shell for its machine", h.Name)
		case ends && h.Start == "":
			return fmt.Sprintf("the line of %s does not say how it is started again", h.Name)
		}
	}
	return ""
}

// start starts the drill's cluster, or takes the one that runs.
func (d *drill) start(ctx context.Context, cfg rig.Config) (err error) {
	if there := d.session.cfg.Cluster; there != nil {
		d.rig, err = rig.Attach(ctx, *there)
		return err
	}
	d.rig, err = rig.Start(ctx, cfg)
	return err
}
