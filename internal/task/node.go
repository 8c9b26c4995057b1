package task

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// NodeRun is one Node of an attempt's NodeGroup. Its methods are called by the
// goroutine of its RunNode, unless noted; those of Attempt by any.
type NodeRun struct {
	Attempt *Attempt

	group   *groupRun
	stage   int // place in the graph's stages
	number  int
	inputs  []Channel
	outputs []Channel

	signalled      atomic.Bool         // there are signals to poll
	resumed        *taskproc.NodeState // what it goes on from; nil for a fresh start
	finished       bool                // it has done its work, here or in an attempt before
	saveUserState  func() ([]byte, error)
	source         *Map // nil for a Node that other Nodes write to
	reduces        []*Reduce
	declined       *Reduce                // whose pause was declined; the next one takes over
	collectors     map[int]*openCollector // by edge
	shared         map[sharedEnd]*SharedWriter
	streams        streams
	live           liveInputs
	liveRuns       []shuffle.MergeInputState      // in files, of what came live, at a pause
	waiting        atomic.Int32                   // calls that wait for other Nodes
	collectorBytes atomic.Int64                   // bytes that its collectors had in memory when a map looked last
	currentIntake  atomic.Pointer[shuffle.Intake] // that was opened last; nil before the first
	files          outputs
	result         result

	mu struct {
		sync.Mutex
		phase    string
		fraction float64
	}
}

// result is what a Node leaves behind.
type result struct {
	pieces    []*taskproc.Piece
	published []*taskproc.MapOutput
	state     *taskproc.NodeState // of a Node that was paused: what it is to go on from
	unwritten error               // why that is not all in files
}

// Stage is the name of the Node's stage in the graph.
func (n *NodeRun) Stage() string { return n.group.graph.Stages[n.stage].Name }

// String names the Node for people.
func (n *NodeRun) String() string { return fmt.Sprintf("%s %d", n.Stage(), n.number) }

// Number is that of the Node in its stage. A map that was cut from another has
// the number of that one.
func (n *NodeRun) Number() int { return n.number }

// Nodes is how many Nodes the stage has.
func (n *NodeRun) Nodes() int { return n.group.graph.Stages[n.stage].Nodes }

// Map is what a source Node reads; nil for others.
func (n *NodeRun) Map() *Map { return n.source }

// Inputs are the edges that lead to the Node, in their order in the graph.
func (n *NodeRun) Inputs() []Channel { return n.inputs }

// Outputs are the edges that lead from the Node, in their order in the graph.
func (n *NodeRun) Outputs() []Channel { return n.outputs }

// UserState is what the user's code saved at the pause that the Node goes on from, nil
// when there is none.
func (n *NodeRun) UserState() []byte { return n.resumed.GetUserState() }

// OnCheckpoint sets what saves the state that the user's code keeps across records.
func (n *NodeRun) OnCheckpoint(save func() ([]byte, error)) { n.saveUserState = save }

// PollSignals does what is waiting between two records, or groups of them, that came from
// streams or from memory. It is called when Signalled says so. While more may come the
// Node stops when its writers do, and no sooner.
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

// mayStop reports whether the Node can stop by itself: all has come that it reads live.
func (n *NodeRun) mayStop() bool { return n.allLiveFinished() && n.group.mayPause() }

// PollProgress reports progress if it is asked for; it may be called between two values of a
// group. A pause that comes there is left to Attend.
func (n *NodeRun) PollProgress() {
	sample, _ := n.takeSignals()
	if n.Attempt.signals.checkpoint.Load() && n.mayStop() {
		defer n.repoll()
	}
	if sample {
		n.report(n.group.progress())
	}
}

func (n *NodeRun) report(p *taskproc.Progress) {
	_ = n.Attempt.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}})
}

// beginWait notes that the Node waits for others, which is no silence of its own,
// until the function that it returns is called.
func (n *NodeRun) beginWait() (over func()) {
	n.waiting.Add(1)
	return func() { n.waiting.Add(-1) }
}

func (n *NodeRun) enterPhase(name string) {
	n.mu.Lock()
	n.mu.phase = name
	n.mu.Unlock()
	n.Attempt.KeepAlive()
}

func (n *NodeRun) setFraction(f float64) {
	n.mu.Lock()
	n.mu.fraction = min(max(f, 0), 1)
	n.mu.Unlock()
}

func (n *NodeRun) progress() (phase string, fraction float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.phase, n.mu.fraction
}

// unwritten is how many bytes the Node has in memory that it would write if it were
// to end early.
func (n *NodeRun) unwritten() int64 {
	bytes := n.collectorBytes.Load()
	if in := n.currentIntake.Load(); in != nil {
		bytes += in.Buffered()
	}
	return bytes
}

// run carries out the Node. Whatever its end, it leaves nothing open, unless it is to
// go on later: then the group closes it.
func (n *NodeRun) run(prog Program) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
		if err != nil {
			n.group.fail(err) // before others learn of it by what this Node leaves unfinished
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

// firstPhase is what progress shows until the Node's own code says otherwise.
func (n *NodeRun) firstPhase() string {
	switch {
	case n.source != nil:
		return "map"
	case len(fileChannels(n.inputs)) > 0:
		return "copy"
	}
	return "stream"
}

// finish publishes what the Node has written, and has it go on later if it was paused.
func (n *NodeRun) finish() error {
	if n.source != nil {
		n.source.countInput()
	}
	for _, r := range n.reduces {
		r.countInput()
	}
	paused := n.Checkpointed()
	if err := errors.Join(n.finishShared(paused), n.finishStreams(paused)); err != nil {
		return err
	}
	if n.Checkpointed() != paused { // something that it has not read was broken off
		return &FatalError{Err: fmt.Errorf("node %v ended before all had come that its writers send", n)}
	}
	published, err := n.publish()
	if err != nil {
		return err
	}
	if paused {
		return n.endForCheckpoint(published)
	}
	for _, r := range n.reduces {
		r.countMerges()
	}
	return n.end(published)
}

// end is the end of a Node that has done its work.
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

// endForCheckpoint is the end of a Node that is to go on in another attempt.
func (n *NodeRun) endForCheckpoint(published []*taskproc.MapOutput) error {
	state, err := n.state(published)
	if err != nil && !errors.As(err, new(*unwrittenError)) {
		return err
	}
	n.result.state, n.result.unwritten = state, err
	return nil
}

// Checkpointed reports whether the Node has stopped where another attempt is to go on. Its
// code looks when it has ended.
func (n *NodeRun) Checkpointed() bool {
	return n.source != nil && n.source.checkpointed || n.pausedReduce() != nil || n.live.stopped || n.live.hasCheckpointed()
}

func (n *NodeRun) pausedReduce() *Reduce {
	for _, r := range n.reduces {
		if r.checkpointed {
			return r
		}
	}
	return nil
}

// blame makes an error about the output of another attempt, which is read as
// late as in a reduce's final merge, one of that attempt: it is run again.
func (n *NodeRun) blame(err error) error {
	for _, r := range n.reduces {
		err = r.blame(err)
	}
	return err
}

// close gives up whatever is still open. It has no effect on what is finished.
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
}
