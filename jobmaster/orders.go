package jobmaster

import (
	"maps"
	"path"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/storage"
)

// sendOrder sends an order of the controller to its machine. It drops an order that it
// cannot send, because the tasknode is not attached or the job's splits are not loaded. When
// that changes, the controller derives the order from the state again.
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
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Truncate{Truncate: &wire.Order_TruncateAttempt{
			AttemptId: o.Attempt.String(), Position: taskproc.FromPosition(o.Position),
		}}})
	case control.OrderPreempt:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Preempt{Preempt: &wire.Order_PreemptAttempt{AttemptId: o.Attempt.String(), Split: o.Mode == preempt.Split}}})
	case control.OrderSuspend:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Suspend{Suspend: &wire.Order_SuspendAttempt{AttemptId: o.Attempt.String()}}})
	case control.OrderResume:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_Resume{Resume: &wire.Order_ResumeAttempt{AttemptId: o.Attempt.String()}}})
	case control.OrderCopyOutput:
		m.sendCopyOutput(o)
	case control.OrderDropCopy:
		m.deliver(o.Machine, &wire.Order{Order: &wire.Order_DropCopy_{DropCopy: &wire.Order_DropCopy{AttemptId: o.Attempt.String(), JobId: o.Job.String()}}})
	case control.OrderRemoveJob:
		m.deliver(o.Machine, removeJobOrder(o.Job.String()))
	}
}

// startMessage returns the message that starts an attempt. It returns false until the job's
// splits are loaded.
//
// The message has everything that a task's process reads about its job: the program, the
// properties, the graph, and the place of the task in the graph. It does not have the
// outputs of earlier stages. These grow while the task runs, so subscribe has them sent
// separately.
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
		ShuffleAddress: m.addressOf(a.Machine), ShuffleToken: m.cfg.ShuffleToken(j.ID.String()),
		LogDir: m.logDir(j, r),
		Graph:  r.spec.Graph, GroupClass: int32(stage.Index), Group: int32(t.Part),
		Bundle: m.bundleMessage(stage, a), CombineSets: combineMessages(j, stage, t),
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

// checkpointFor returns the checkpoint from which an attempt resumes, nil if it starts from
// the beginning.
func (m *Master) checkpointFor(a *cluster.Attempt, t *cluster.Task) *taskproc.Checkpoint {
	if t.Checkpoint == nil {
		return nil
	}
	return checkpointMessage(t.ID, t.Checkpoint, a.Machine, m.addressOf(t.Checkpoint.Machine))
}

// kindOf returns MAP for tasks that read input, and REDUCE for tasks that read only the
// output of other tasks.
func kindOf(stage *cluster.Stage) taskproc.Kind {
	if stage.Source {
		return taskproc.Kind_MAP
	}
	return taskproc.Kind_REDUCE
}

// logDir returns the directory for the logs of a job's attempts, "" if no logs are kept. It
// is in the directory of the day on which the job was submitted. A job's own property
// overrides Config.LogDir.
func (m *Master) logDir(j *cluster.Job, r *record) string {
	dir := m.cfg.LogDir
	if own := r.spec.Properties[conf.JobLogDir]; own != "" {
		dir = own
	}
	if dir == "" {
		return ""
	}
	return joinName(dir, path.Join(dayName(j.SubmittedAt), j.ID.String()))
}

// mapTasks counts the tasks of a job that read input. The number grows when tasks are split.
func mapTasks(j *cluster.Job) (n int) {
	for _, s := range j.Stages {
		if s.Source {
			n += len(s.Tasks)
		}
	}
	return n
}

// stagingDir returns the full name of the directory for the pieces of a job's output.
func stagingDir(outputDir string, id cluster.JobID) string {
	return joinName(outputDir, path.Join(storage.TemporaryName, id.String()))
}

// joinName appends a relative path to a full name.
func joinName(name, relative string) string {
	if name == "" || name[len(name)-1] == '/' {
		return name + relative
	}
	return name + "/" + relative
}

// deliver sends an order to a machine if its tasknode is attached and its present instance
// has joined. Orders for an earlier instance have no meaning for a restarted tasknode. A
// tasknode that is not attached gets its orders when it attaches, because they follow from
// the state.
func (m *Master) deliver(machine string, o *wire.Order) {
	n, known := m.tasknodes[machine], m.view.Machine(machine)
	if n != nil && n.attachment != nil && known != nil && n.attachment.instance == known.Instance {
		n.attachment.send(o)
	}
}

// acknowledge informs the tasknode that the last report of an attempt is in the log.
func (m *Master) acknowledge(id cluster.AttemptID) {
	_, _, a, _ := m.view.Attempt(id)
	m.deliver(a.Machine, acknowledgeOrder(id.String()))
}

func acknowledgeOrder(attempt string) *wire.Order {
	return &wire.Order{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: attempt}}}
}

func killOrder(attempt, cause string) *wire.Order {
	return &wire.Order{Order: &wire.Order_Kill{Kill: &wire.Order_KillAttempt{AttemptId: attempt, Cause: cause}}}
}

func removeJobOrder(job string) *wire.Order {
	return &wire.Order{Order: &wire.Order_RemoveJob_{RemoveJob: &wire.Order_RemoveJob{JobId: job}}}
}

// admissionOrder informs a tasknode whether it gets new tasks.
func admissionOrder(machine *cluster.Machine) *wire.Order {
	refusal := ""
	switch {
	case machine.UntilRestart:
		refusal = "drained until it restarts"
	case machine.Draining:
		refusal = "drained"
	case machine.Excluded:
		refusal = "removed by 'hammr node remove'"
	}
	return &wire.Order{Order: &wire.Order_Admission_{Admission: &wire.Order_Admission{Refusal: refusal}}}
}

func progressOrder() *wire.Order {
	return &wire.Order{Order: &wire.Order_RequestProgress_{RequestProgress: new(wire.Order_RequestProgress)}}
}

// The functions below describe the group that a task runs: what its Nodes read, and which
// groups run at the same time.

// sourcesMessage lists the splits that the source Nodes of a group read.
func sourcesMessage(j *cluster.Job, t *cluster.Task, splits []*taskproc.Split) []*taskproc.Source {
	var messages []*taskproc.Source
	for _, s := range j.SourcesOf(t) {
		messages = append(messages, &taskproc.Source{Stage: int32(s.Stage), Node: int32(s.Node), Split: splits[s.Split]})
	}
	return messages
}

// bundleMessage describes the gang in which an attempt starts, nil if it starts alone. It
// lists the members that start now. Other members finished before the gang was preempted.
//
// The incarnation increases with each start of the gang. So a stream from a member of an
// earlier start is not mistaken for a stream of this start.
func (m *Master) bundleMessage(stage *cluster.Stage, a *cluster.Attempt) *taskproc.Bundle {
	b := stage.Bundle
	if !b.Gang {
		return nil
	}
	number := a.ID.Task.Number / b.TasksIn(stage)
	message := &taskproc.Bundle{Class: int32(b.Index), Bundle: int32(number), Incarnation: int32(b.Incarnation(number))}
	for _, member := range b.TasksOf(number) {
		if !member.StartedWith(a) {
			continue
		}
		latest := member.Attempts[len(member.Attempts)-1]
		_, class, _, _ := m.view.Task(member.ID)
		message.Groups = append(message.Groups, &taskproc.Bundle_Group{
			Class: int32(class.Index), Group: int32(member.ID.Number), Address: m.addressOf(latest.Machine),
		})
	}
	return message
}

// combineMessages lists the writers whose records the Nodes of a group combine.
func combineMessages(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) []*taskproc.CombineSet {
	shares := j.CombineSetsOf(t)
	var messages []*taskproc.CombineSet
	for _, edge := range slices.Sorted(maps.Keys(shares)) {
		message := &taskproc.CombineSet{Edge: int32(edge), Node: int32(t.ID.Number)}
		for _, writer := range shares[edge] {
			message.Writers = append(message.Writers, int32(writer))
		}
		messages = append(messages, message)
	}
	return messages
}
