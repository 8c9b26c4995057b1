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

// Node is one Node of an attempt's NodeGroup. Its methods are called by the
// goroutine of its RunNode, unless noted; those of Attempt by any.
type Node struct {
	*Attempt

	group   *group
	stage   int // place in the graph's stages
	number  int
	inputs  []Channel
	outputs []Channel

	due        atomic.Bool // there are signals to attend to
	source     *Map        // nil for a Node that other Nodes write to
	reduces    []*Reduce
	declined   *Reduce                // whose pause was declined; the next one takes over
	collectors map[int]*openCollector // by edge
	shared     map[sharedEnd]*SharedWriter
	streams    streams
	waiting    atomic.Int32                   // calls that wait for other Nodes
	collected  atomic.Int64                   // bytes that its collectors had in memory when a map looked last
	taking     atomic.Pointer[shuffle.Intake] // that was opened last; nil before the first
	files      outputs
	result     result

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
	paused    *taskproc.FromTask // the attempt's last message, when the Node was paused
}

// Stage is the name of the Node's stage in the graph.
func (n *Node) Stage() string { return n.group.graph.Stages[n.stage].Name }

// String names the Node for people.
func (n *Node) String() string { return fmt.Sprintf("%s %d", n.Stage(), n.number) }

// Number is that of the Node in its stage. A map that was cut from another has
// the number of that one.
func (n *Node) Number() int { return n.number }

// Nodes is how many Nodes the stage has.
func (n *Node) Nodes() int { return n.group.graph.Stages[n.stage].Nodes }

// Map is what a source Node reads; nil for others.
func (n *Node) Map() *Map { return n.source }

// Inputs are the edges that lead to the Node, in their order in the graph.
func (n *Node) Inputs() []Channel { return n.inputs }

// Outputs are the edges that lead from the Node, in their order in the graph.
func (n *Node) Outputs() []Channel { return n.outputs }

// Attend does what is waiting between two records that come from streams or
// from memory. It is called when Signalled says so.
func (n *Node) Attend() (Action, error) {
	if err := context.Cause(n.ctx); err != nil {
		return Stop, err
	}
	n.Sample()
	return Continue, nil
}

// Sample reports progress if it is asked for.
func (n *Node) Sample() {
	if sample, _ := n.attend(); sample {
		n.report(n.group.progress())
	}
}

func (n *Node) report(p *taskproc.Progress) {
	_ = n.send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}})
}

// waits notes that the Node waits for others, which is no silence of its own,
// until the function that it returns is called.
func (n *Node) waits() (over func()) {
	n.waiting.Add(1)
	return func() { n.waiting.Add(-1) }
}

func (n *Node) enterPhase(name string) {
	n.mu.Lock()
	n.mu.phase = name
	n.mu.Unlock()
	n.Alive()
}

func (n *Node) setFraction(f float64) {
	n.mu.Lock()
	n.mu.fraction = min(max(f, 0), 1)
	n.mu.Unlock()
}

func (n *Node) progress() (phase string, fraction float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.phase, n.mu.fraction
}

// unwritten is how many bytes the Node has in memory that it would write if it were
// to end early.
func (n *Node) unwritten() int64 {
	bytes := n.collected.Load()
	if in := n.taking.Load(); in != nil {
		bytes += in.Held()
	}
	return bytes
}

// run carries out the Node. Whatever its end, it leaves nothing open.
func (n *Node) run(prog Program) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
		if err != nil {
			n.group.fail(err) // before others learn of it by what this Node leaves unfinished
		}
		n.close()
	}()
	if n.resumed != nil {
		n.enterPhase("copy")
		if err := n.bringCheckpoint(); err != nil {
			return err
		}
	}
	n.openStreams()
	n.enterPhase(n.firstPhase())
	for {
		if err := prog.RunNode(n); err != nil {
			return n.blame(err)
		}
		err := n.finish()
		var unwritten *unwrittenError
		if !errors.As(err, &unwritten) {
			return err
		}
		if err := n.goOn(unwritten); err != nil {
			return err
		}
	}
}

// firstPhase is what progress shows until the Node's own code says otherwise.
func (n *Node) firstPhase() string {
	switch {
	case n.source != nil:
		return "map"
	case len(fileChannels(n.inputs)) > 0:
		return "copy"
	}
	return "stream"
}

// finish publishes what the Node has written, or writes its checkpoint.
func (n *Node) finish() (err error) {
	if n.source != nil {
		n.source.countInput()
	}
	for _, r := range n.reduces {
		r.countInput()
	}
	if r := n.pausedReduce(); r != nil {
		n.result.paused, err = r.checkpoint()
		return err
	}
	for _, r := range n.reduces {
		r.countMerges()
	}
	if err := errors.Join(n.finishShared(), n.finishStreams()); err != nil {
		return err
	}
	if n.result.published, err = n.publish(); err != nil {
		return err
	}
	if m := n.source; m != nil && m.processed != m.work && m.Pausing() {
		n.result.paused, err = m.checkpoint(n.result.published)
		return err
	}
	if err := n.store(n.result.published); err != nil {
		return err
	}
	if n.result.pieces, _, err = n.files.close(false); err != nil {
		return err
	}
	n.setFraction(1)
	return nil
}

func (n *Node) pausedReduce() *Reduce {
	for _, r := range n.reduces {
		if r.paused {
			return r
		}
	}
	return nil
}

// blame makes an error about the output of another attempt, which is read as
// late as in a reduce's final merge, one of that attempt: it is run again.
func (n *Node) blame(err error) error {
	for _, r := range n.reduces {
		err = r.blame(err)
	}
	return err
}

// close gives up whatever is still open. It has no effect on what is finished.
func (n *Node) close() {
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
