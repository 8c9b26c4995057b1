package task

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task/checkpoint"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// state returns the state of a checkpointed Node, and closes its outputs. If the user's code
// has not been called since the last checkpoint, the user's state is copied from that
// checkpoint.
func (n *NodeRun) state(published []*taskproc.MapOutput) (s *taskproc.NodeState, err error) {
	s = n.newState()
	s.Published, s.UserState, s.Live = published, n.UserState(), n.liveStates()
	if n.saveUserState != nil {
		if s.UserState, err = n.saveUserState(); err != nil {
			return nil, fmt.Errorf("saving the state of the user's code: %w", err)
		}
	}
	if s.Pieces, s.Pending, err = n.files.close(true); err != nil {
		return nil, err
	}
	s.Pending = append(s.Pending, n.unopenedPending()...)
	switch r := n.checkpointedReduce(); {
	case n.source != nil:
		s.Remaining = taskproc.FromRange(n.source.remaining())
	case r != nil:
		err = r.addTo(s)
	default:
		s.Merge = checkpoint.MergeInputs(n.liveRuns)
	}
	return s, err
}

// finishedState returns the state of a Node that has done its work.
func (n *NodeRun) finishedState() *taskproc.NodeState {
	s := n.newState()
	s.Finished, s.Pieces, s.Published = true, n.result.pieces, n.result.published
	return s
}

// newState returns the state of a Node without its content.
func (n *NodeRun) newState() *taskproc.NodeState {
	return &taskproc.NodeState{Stage: int32(n.stage), Node: int32(n.number)}
}

// addTo records a reduce that is between two groups, or before the first. The files with the
// runs that remain to be merged stay.
func (r *Reduce) addTo(s *taskproc.NodeState) error {
	if r.groups != nil {
		r.groups.Boundary()
		if err := r.groups.Err(); err != nil {
			return err
		}
	}
	state, err := r.intake.State(r.Node.Attempt.ctx)
	if err != nil {
		return &unwrittenError{err}
	}
	r.countMerges()
	for _, edge := range slices.Sorted(maps.Keys(r.fetched)) {
		s.Fetched = append(s.Fetched, &taskproc.Fetched{Edge: int32(edge), Nodes: r.fetched[edge]})
	}
	s.Merge = checkpoint.MergeInputs(state)
	return nil
}

// checkpoint writes the states of all Nodes. If it cannot write them, the error is an
// *unwrittenError. The reduces detach their files only after the checkpoint file is
// complete: until then the attempt may have to continue with them.
func (g *groupRun) checkpoint() (*taskproc.FromTask, error) {
	body := &taskproc.CheckpointBody{JobId: g.Attempt.Start.JobId, Task: g.Attempt.Start.Task, Kind: g.Attempt.Start.Kind}
	for _, n := range g.nodes {
		switch {
		case n.result.unwritten != nil:
			return nil, n.result.unwritten
		case n.result.state != nil:
			body.Nodes = append(body.Nodes, n.result.state)
		default:
			body.Nodes = append(body.Nodes, n.finishedState())
		}
	}
	body.Counters = counterMessages(g.Attempt.Counters)
	last, err := g.writeCheckpoint(body)
	if err != nil {
		return nil, err
	}
	for _, n := range g.nodes {
		if r := n.checkpointedReduce(); r != nil {
			err = errors.Join(err, r.intake.Detach())
		}
	}
	return last, err
}

// writeCheckpoint writes body into the attempt's directory, and a copy of it where the job
// asks for one. It returns the attempt's last message.
func (g *groupRun) writeCheckpoint(body *taskproc.CheckpointBody) (*taskproc.FromTask, error) {
	if err := failpoint.Hit(failpoint.TaskCheckpoint); err != nil {
		return nil, &unwrittenError{err}
	}
	create := func(path string) (storage.Writer, error) {
		return g.Attempt.Local.Create(g.Attempt.ctx, path, storage.CreateOptions{})
	}
	file, err := checkpoint.Write(create, g.Attempt.LocalFile("checkpoint"), body)
	if err != nil {
		return nil, &unwrittenError{err}
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{
		Checkpoint: &taskproc.Checkpoint{
			Path: file.Path, Bytes: file.Bytes, Checksum: file.Checksum,
			Attempt: g.Attempt.Start.AttemptId, JobId: g.Attempt.Start.JobId, Task: g.Attempt.Start.Task,
			Copy: g.copyCheckpoint(body),
		},
	}}}, nil
}

// Runs returns the runs in files that a Node which sorts live input had at the checkpoint
// that it resumes from; none if it starts from the beginning.
func (n *NodeRun) Runs() []shuffle.MergeInputState {
	return checkpoint.MergeStates(n.resumed.GetMerge())
}

// KeepRuns sets the runs in files of such a Node at a checkpoint. The files stay.
func (n *NodeRun) KeepRuns(runs []shuffle.MergeInputState) { n.liveRuns = runs }
