package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// NodeRun runs one Node of the attempt's NodeGroup. The goroutine of its RunNode calls its
// methods, unless noted; any goroutine may call those of Attempt. The atomic fields and mu
// are read by listen and tick for reports.
type NodeRun struct {
	Attempt *Attempt

	group   *groupRun
	stage   int       // index in the graph's stages
	number  int       // number in its stage
	inputs  []Channel // edges to it, in the order of the graph
	outputs []Channel // edges from it, in the order of the graph

	signalled      atomic.Bool                    // signals wait to be polled
	resumed        *taskproc.NodeState            // its state in the checkpoint; nil if it starts from the beginning
	finished       bool                           // it has done its work, in this attempt or an earlier one
	saveUserState  func() ([]byte, error)         // set by OnCheckpoint; nil: the code has no state
	source         *Map                           // nil for a Node that other Nodes write to
	reduces        []*Reduce                      // reduces that its code has opened
	declined       *Reduce                        // the reduce whose checkpoint was declined; the next one continues it
	collectors     map[int]*openCollector         // collectors by edge
	shared         map[sharedEnd]*SharedWriter    // writers that SendShared has returned
	streams        streams                        // ends of its TCP edges
	live           liveInputs                     // how its live edges have ended
	liveRuns       []shuffle.MergeInputState      // runs in files of live input, at a checkpoint
	waiting        atomic.Int32                   // number of calls that wait for other Nodes
	collectorBytes atomic.Int64                   // bytes in its collectors when a map last polled
	currentIntake  atomic.Pointer[shuffle.Intake] // the intake opened last; nil before the first
	files          outputs                        // files of the job's output
	sides          map[int]*sideTable             // tables that it uses, by edge
	result         result                         // set when its code has returned

	mu struct {
		sync.Mutex
		phase    string  // as in Progress
		fraction float64 // from 0 to 1
	}
}

// result is the output of a Node.
type result struct {
	pieces    []*taskproc.Piece
	published []*taskproc.MapOutput
	state     *taskproc.NodeState // state of a checkpointed Node
	unwritten error               // reason why state is not completely in files
}

// Poisoned reports whether memory that was lent is overwritten (hammr.debug.poison).
func (n *NodeRun) Poisoned() bool { return poison.On(n.Attempt.Conf.Bool(conf.Poison)) }

// Stage returns the name of the Node's stage.
func (n *NodeRun) Stage() string { return n.group.graph.Stages[n.stage].Name }

// String names the Node in messages.
func (n *NodeRun) String() string { return fmt.Sprintf("%s %d", n.Stage(), n.number) }

// Number returns the number of the Node in its stage. A map that was split from another has
// the number of that one.
func (n *NodeRun) Number() int { return n.number }

// Nodes returns the number of Nodes of the stage.
func (n *NodeRun) Nodes() int { return n.group.graph.Stages[n.stage].Nodes }

// Map returns the input of a source Node; nil for others.
func (n *NodeRun) Map() *Map { return n.source }

// Inputs returns the edges that lead to the Node, in the order of the graph.
func (n *NodeRun) Inputs() []Channel { return n.inputs }

// Outputs returns the edges that lead from the Node, in the order of the graph.
func (n *NodeRun) Outputs() []Channel { return n.outputs }

// UserState returns the state that the user's code saved in the checkpoint from which the Node
// resumes; nil if there is none.
func (n *NodeRun) UserState() []byte { return n.resumed.GetUserState() }

// OnCheckpoint sets the function that saves the state of the user's code across
// records.
func (n *NodeRun) OnCheckpoint(save func() ([]byte, error)) { n.saveUserState = save }

// PollSignals handles signals between two records, or groups of them, that came from
// streams or memory. The caller calls it if Signalled says so. A Node that reads live
// stops only after all its writers have.
func (n *NodeRun) PollSignals() (Action, error) {
	if err := context.Cause(n.Attempt.ctx); err != nil {
		return Stop, err
	}
	n.PollProgress()
	if n.mayStop() && n.Attempt.signals.acceptCheckpoint() {
		n.live.stopped = true
		return Stop, nil
	}
	return Continue, nil
}

// mayStop reports whether the Node can stop: it has received all that it reads live.
func (n *NodeRun) mayStop() bool { return n.allLiveFinished() && n.group.canCheckpoint() }

// PollProgress reports progress if that was requested. It may be called between two
// values of a group. A checkpoint requested there is left to PollSignals.
func (n *NodeRun) PollProgress() {
	if n.takeProgressSignal(n.mayStop()) {
		n.Attempt.sendProgress(n.group.progress())
	}
}

// takeProgressSignal reports whether progress is to be reported. If a checkpoint is requested
// and the Node could stop for it, the Node polls again, since this is no boundary.
func (n *NodeRun) takeProgressSignal(mayStop bool) (sample bool) {
	sample, _ = n.takeSignals()
	if mayStop && n.Attempt.signals.checkpoint.Load() {
		n.repoll()
	}
	return sample
}

// beginWait notes that the Node waits for others, until the caller calls the returned
// function. A waiting Node does not time out.
func (n *NodeRun) beginWait() (over func()) {
	n.waiting.Add(1)
	return func() { n.waiting.Add(-1) }
}

// enterPhase sets the phase that reports show. It is a sign of life.
func (n *NodeRun) enterPhase(name string) {
	n.mu.Lock()
	n.mu.phase = name
	n.mu.Unlock()
	n.Attempt.KeepAlive()
}

// setFraction sets the part of the Node's work that is done, from 0 to 1.
func (n *NodeRun) setFraction(f float64) {
	n.mu.Lock()
	n.mu.fraction = min(max(f, 0), 1)
	n.mu.Unlock()
}

// progress returns what enterPhase and setFraction have set.
func (n *NodeRun) progress() (phase string, fraction float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.phase, n.mu.fraction
}

// unwritten returns the bytes in memory that the Node would write if it ended early.
func (n *NodeRun) unwritten() int64 {
	bytes := n.collectorBytes.Load()
	if in := n.currentIntake.Load(); in != nil {
		bytes += in.Buffered()
	}
	return bytes
}

// run runs the Node. It closes everything, unless the Node is checkpointed: then the
// group does, since the checkpoint may be declined.
func (n *NodeRun) run(prog Program) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
		if err != nil {
			n.group.fail(err) // before others fail because of what this Node leaves unfinished
		}
		if err != nil || n.finished {
			n.close()
		}
	}()
	n.openStreams()
	n.enterPhase(n.firstPhase())
	if err := prog.RunNode(n); err != nil {
		return n.blame(err)
	}
	return n.finish()
}

// firstPhase returns the phase in progress reports until the Node's own code sets another.
func (n *NodeRun) firstPhase() string {
	switch {
	case n.source != nil:
		return "map"
	case len(fileChannels(n.inputs)) > 0:
		return "copy"
	}
	return "stream"
}

// finish publishes the Node's output, and saves its state if it is checkpointed. Streams and
// queues end first, since their readers wait. The collectors are finished even for a
// checkpoint: their files are part of the state.
func (n *NodeRun) finish() error {
	if n.source != nil {
		n.source.countInput()
	}
	for _, r := range n.reduces {
		r.countInput()
	}
	checkpointed := n.Checkpointed()
	if err := errors.Join(n.finishShared(checkpointed), n.finishStreams(checkpointed)); err != nil {
		return err
	}
	if n.Checkpointed() != checkpointed { // an input that it had not read ended with a mark
		return &FatalError{Err: fmt.Errorf("node %v ended before it had received all that its writers send", n)}
	}
	published, err := n.publish()
	if err != nil {
		return err
	}
	if checkpointed {
		return n.endForCheckpoint(published)
	}
	for _, r := range n.reduces {
		r.countMerges()
	}
	return n.end(published)
}

// end ends a Node that has done its work.
func (n *NodeRun) end(published []*taskproc.MapOutput) (err error) {
	if err := n.store(published); err != nil {
		return err
	}
	n.result.published = published
	if n.result.pieces, _, err = n.files.close(false); err != nil {
		return err
	}
	n.finished = true
	n.setFraction(1)
	return nil
}

// endForCheckpoint ends a Node that another attempt is to resume. A state that could not be
// written is no error yet: the attempt may decline the checkpoint and continue.
func (n *NodeRun) endForCheckpoint(published []*taskproc.MapOutput) error {
	state, err := n.state(published)
	if err != nil && !errors.As(err, new(*unwrittenError)) {
		return err
	}
	n.result.state, n.result.unwritten = state, err
	return nil
}

// Checkpointed reports whether the Node has stopped for a checkpoint. Its code calls it
// at its end.
func (n *NodeRun) Checkpointed() bool {
	return n.source != nil && n.source.checkpointed || n.checkpointedReduce() != nil || n.live.stopped || n.live.hasCheckpointed()
}

// checkpointedReduce returns the reduce that stopped for a checkpoint; nil if none has.
func (n *NodeRun) checkpointedReduce() *Reduce {
	for _, r := range n.reduces {
		if r.checkpointed {
			return r
		}
	}
	return nil
}

// blame turns an error about the output of another attempt into a LostOutputError, so that
// the task of that attempt runs again. Such an error may come as late as in the final merge,
// where only the path of the file shows which attempt wrote it.
func (n *NodeRun) blame(err error) error {
	for _, r := range n.reduces {
		err = r.blame(err)
	}
	return err
}

// close closes what is still open. It has no effect on finished parts.
func (n *NodeRun) close() {
	for _, r := range n.reduces {
		r.Close()
	}
	if n.declined != nil {
		n.declined.Close()
	}
	for _, c := range n.collectors {
		_ = c.Abort()
	}
	n.closeStreams()
	n.releaseSides()
}
