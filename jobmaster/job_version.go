package jobmaster

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
)

// Masters are upgraded before tasknodes, so a tasknode may be of an older release than the cluster
// version. An attempt of a job that needs more than such a tasknode understands would wait for
// its input for ever. So the two are kept apart:
//
//	submission of the job        refused while an older tasknode is there
//	session of the tasknode      refused while such a job is unfinished
//
// The version of a tasknode is not in the replicated state. A new leader learns it when the
// tasknode attaches, and refuses such submissions for adoptionWindow until then.

// checkTasknodes refuses a job that a tasknode of the cluster is too old to run.
func (m *Master) checkTasknodes(spec *cluster.JobSpec) error {
	needed := spec.Version()
	if needed <= cluster.FirstVersion || needed > m.view.Version() { // propose refuses what the masters do not know
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m.tasknodes)) {
		if n := m.tasknodes[name]; n.seenThisTerm && n.jobVersion < needed && m.isPresent(name, n) {
			return fmt.Errorf("%w: this job needs tasknodes of cluster version %d, and tasknode %s is of a release for version %d: upgrade it, or stop it, and submit the job again",
				cluster.ErrRefused, needed, name, n.jobVersion)
		}
	}
	if m.now() >= m.lead.since+adoptionWindow {
		return nil
	}
	for machine := range m.view.Machines() {
		if !machine.Lost && !m.tasknode(machine.Name).seenThisTerm {
			m.meters.refused.Add(1)
			return &OverloadError{What: "a new leader waits for tasknode " + machine.Name + ", which may be too old for this job", RetryAfter: retryAfter}
		}
	}
	return nil
}

// isPresent reports whether a tasknode may get tasks, or may come back with those that it has.
func (m *Master) isPresent(name string, n *tasknodeRecord) bool {
	machine := m.view.Machine(name)
	return n.attachment != nil || machine != nil && !machine.Lost
}

// checkJobs refuses a tasknode that is too old for a job that is not over.
func (m *Master) checkJobs(name string, version int) error {
	if version >= m.view.Version() {
		return nil
	}
	for j := range m.view.Jobs() {
		if needed := j.Spec.Version(); !j.State.Final() && needed > version {
			return fmt.Errorf("%w: tasknode %s is of a release for cluster version %d, and %s needs tasknodes of version %d: upgrade the tasknode, or start it when the job is over",
				cluster.ErrRefused, name, version, j.ID, needed)
		}
	}
	return nil
}

// endTooOld ends the session of a tasknode that has joined together with a job for which it is
// too old. It reports whether it did.
func (m *Master) endTooOld(machine *cluster.Machine, n *tasknodeRecord) bool {
	err := m.checkJobs(machine.Name, n.jobVersion)
	if err == nil {
		return false
	}
	m.cfg.Logger.Warn("tasknode too old for a job", "tasknode", machine.Name, "error", err)
	n.detach(err)
	m.expire(machine, n)
	return true
}
