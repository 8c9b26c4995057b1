package jobmaster

import (
	"path"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/preempt"
)

// sendOrder turns an order of the brain into a message to its machine.
func (m *Master) sendOrder(o control.Order) {
	switch o.Kind {
	case control.OrderStart:
		start, ok := m.startMessage(o.Attempt)
		if !ok {
			return
		}
		j, stage, _, _ := m.view.Task(o.Attempt.Task)
		m.subscribe(o.Machine, j, stage)
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: start}}})
	case control.OrderKill:
		m.deliver(o.Machine, killOrder(o.Attempt.String(), o.Cause))
	case control.OrderTruncate:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Stop{Stop: &wire.Order_StopAttempt{
			AttemptId: o.Attempt.String(), Position: taskproc.FromPosition(o.Position),
		}}})
	case control.OrderPreempt:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Pause{Pause: &wire.Order_PauseAttempt{AttemptId: o.Attempt.String(), Split: o.Mode == preempt.Split}}})
	case control.OrderSuspend:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Suspend{Suspend: &wire.Order_SuspendAttempt{AttemptId: o.Attempt.String()}}})
	case control.OrderResume:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Resume{Resume: &wire.Order_ResumeAttempt{AttemptId: o.Attempt.String()}}})
	case control.OrderCopyOutput:
		m.sendCopyOutput(o)
	case control.OrderDropCopy:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_LetGo_{LetGo: &wire.Order_LetGo{AttemptId: o.Attempt.String(), JobId: o.Job.String()}}})
	case control.OrderRemoveJob:
		m.deliver(o.Machine, removeJobOrder(o.Job.String()))
	}
}

// startMessage is everything an attempt needs to know. It cannot be said while
// the job's splits are not loaded.
func (m *Master) startMessage(id cluster.AttemptID) (*taskproc.Start, bool) {
	j, t, a, ok := m.view.Attempt(id)
	if !ok {
		return nil, false
	}
	if !j.Loaded() {
		return nil, false
	}
	r := m.record(j.ID)
	_, stage, _, _ := m.view.Task(t.ID)
	start := &taskproc.Start{
		JobId: j.ID.String(), AttemptId: id.String(), Program: r.spec.Program, Kind: kindOf(stage),
		Task: int32(t.ID.Number), Attempt: int32(id.Number), Part: int32(t.Part),
		Properties: r.spec.Properties, Config: r.spec.Config,
		Maps: int32(mapTasks(j)), Reduces: r.spec.Reduces,
		Checkpoint: m.checkpointFor(a, t), Fingerprint: r.spec.Fingerprint,
		User: r.spec.User, Binary: r.spec.Binary, BinarySha256: r.spec.BinarySha256,
		NodeAddress: m.addressOf(a.Machine), ShuffleToken: m.cfg.ShuffleToken,
		LogDir: m.logDir(j.ID, r),
		Graph:  r.spec.Graph, GroupClass: int32(stage.Index), Group: int32(t.Part),
		Bundle: m.bundleMessage(stage, a), Shares: combineMessages(j, stage, t),
	}
	if j.Spec.OutputDir != "" {
		start.OutputDir = stagingDir(j.Spec.OutputDir, j.ID)
	}
	if t.Split >= 0 {
		start.Split, start.Range = r.splits[t.Split], taskproc.FromRange(a.Range)
		for _, p := range t.Skip {
			start.Skip = append(start.Skip, taskproc.FromPosition(p))
		}
		return start, true
	}
	start.Sources = sourcesMessage(j, t, r.splits)
	return start, true
}

// checkpointFor is where an attempt at a task goes on, nil for one that begins
// anew.
func (m *Master) checkpointFor(a *cluster.Attempt, t *cluster.Task) *taskproc.Checkpoint {
	if t.Checkpoint == nil {
		return nil
	}
	return checkpointMessage(t.ID, t.Checkpoint, a.Machine, m.addressOf(t.Checkpoint.Machine))
}

// kindOf is MAP for tasks that read input, REDUCE for those that read only what
// others wrote.
func kindOf(stage *cluster.Stage) taskproc.Kind {
	if stage.Source {
		return taskproc.Kind_MAP
	}
	return taskproc.Kind_REDUCE
}

// logDir is the directory for the logs of a job's attempts, "" when they are not
// kept.
func (m *Master) logDir(id cluster.JobID, r *record) string {
	dir := m.cfg.LogDir
	if own := r.spec.Properties[conf.JobLogDir]; own != "" {
		dir = own
	}
	if dir == "" {
		return ""
	}
	return joinName(dir, id.String())
}

func mapTasks(j *cluster.Job) (n int) {
	for _, s := range j.Stages {
		if s.Source {
			n += len(s.Tasks)
		}
	}
	return n
}

// temporaryName is the directory inside a job's output for what is not output
// yet.
const temporaryName = "_temporary"

// stagingDir is the full name of the directory for the pieces of a job's
// output.
func stagingDir(outputDir string, id cluster.JobID) string {
	return joinName(outputDir, path.Join(temporaryName, id.String()))
}

// joinName appends a relative path to a full name.
func joinName(name, relative string) string {
	if name == "" || name[len(name)-1] == '/' {
		return name + relative
	}
	return name + "/" + relative
}
