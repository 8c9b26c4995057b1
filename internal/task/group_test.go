package task

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestEveryGraphRelaysEveryRecord runs random graphs, in memory and over sockets. It
// compares the records that each Node sees with a twin.
func TestEveryGraphRelaysEveryRecord(t *testing.T) {
	for seed := range testlevel.Seeds(15, 120) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			g := randomGraph(random)
			p := &relay{records: random.IntN(300), seen: make(map[string][]string)}
			r := newRig(t, g, p)
			r.combineSets = randomCombineSets(g)
			if seed%4 == 0 {
				r.network(2)
			}
			r.run()
			r.allDone()
			compareSeen(t, g, p.seen, twin(g, p.records, r.combineSets))
		})
	}
}

// oneEdge returns a graph of two stages.
func oneEdge(writers, readers int, channel dag.Channel, connection dag.Connection) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "from", Nodes: writers}, {Name: "to", Nodes: readers}},
		Edges:  []dag.Edge{{From: "from", To: "to", Channel: channel, Connection: connection}},
	}
}

// TestFirstErrorIsReported fails one Node, anywhere in the graph. Its group ends with
// its error, and the rest of the gang fails after it.
func TestFirstErrorIsReported(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		for _, failing := range []string{"from", "to"} {
			for _, machines := range []int{0, 2} {
				t.Run(fmt.Sprint(channel, failing, machines), func(t *testing.T) {
					p := &relay{records: 5000, seen: make(map[string][]string)}
					r := newRig(t, oneEdge(2, 2, channel, dag.AllToAll), programFunc(func(n *NodeRun) error {
						if n.Stage() == failing && n.Number() == 1 {
							return errors.New("no use")
						}
						return p.RunNode(n)
					}))
					if machines > 0 {
						r.network(machines)
					}
					r.properties["hammr.channel.connect.timeout"] = "500ms" // timeout for Nodes that have not connected to the failing Node
					r.run()
					stage := r.graph.StageIndex(failing)
					if f := r.mu.last[r.layout.GroupOf(stage, 1)].GetFailure(); f.GetCause() != "no use" {
						t.Errorf("the failing group ended with %v", f)
					}
					if failing == "to" && machines > 0 {
						return // the network may have accepted everything that was sent
					}
					other := r.layout.GroupOf(1-stage, 0)
					if f := r.mu.last[other].GetFailure(); f == nil {
						t.Errorf("group %v, which misses it, ended with %v", other, r.mu.last[other])
					}
				})
			}
		}
	}
}

// TestPanicOfANode checks that a panic is reported as a failure with the stack.
func TestPanicOfANode(t *testing.T) {
	r := newRig(t, oneEdge(2, 1, dag.ChannelSHM, dag.Gather), programFunc(func(n *NodeRun) error {
		if n.Stage() == "from" && n.Number() == 0 {
			panic("no more")
		}
		<-n.Attempt.Context().Done()
		return context.Cause(n.Attempt.Context())
	}))
	for _, last := range r.run() {
		if f := last.GetFailure(); f.GetCause() != "panic: no more" || !strings.Contains(f.GetStack(), "TestPanicOfANode") {
			t.Errorf("ended with %v", last)
		}
	}
}

// TestKillInTheMiddle kills a waiting group. This ends its gang.
func TestKillInTheMiddle(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		started := make(chan struct{})
		p := &relay{records: 5000, seen: make(map[string][]string)}
		r := newRig(t, oneEdge(2, 2, channel, dag.AllToAll), programFunc(func(n *NodeRun) error {
			if n.Stage() == "to" && n.Number() == 1 {
				close(started)
				<-n.Attempt.Context().Done()
				return context.Cause(n.Attempt.Context())
			}
			return p.RunNode(n)
		}))
		r.properties["hammr.channel.connect.timeout"] = "500ms" // timeout for Nodes that have not connected to the killed Node
		go func() {
			<-started
			r.send("to", 1, &taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "enough"}}})
		}()
		r.run()
		if last := r.mu.last[r.layout.GroupOf(1, 1)]; last.GetExited() == nil {
			t.Errorf("%v: the killed group ended with %v", channel, last)
		}
		for node := range 2 {
			if id := r.layout.GroupOf(0, node); r.mu.last[id].GetFinished() != nil {
				t.Errorf("%v: writing group %v is done", channel, id)
			}
		}
	}
}

// TestNodesWithoutOutput checks that Nodes without output succeed, and also Nodes that do
// not read.
func TestNodesWithoutOutput(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		p := &relay{records: 5000, seen: make(map[string][]string)}
		r := newRig(t, oneEdge(3, 2, channel, dag.AllToAll), programFunc(func(n *NodeRun) error {
			if n.Number() == 1 { // one Node sends nothing, one reads nothing
				return nil
			}
			return p.RunNode(n)
		}))
		r.run()
		r.allDone()
		if len(p.seen["to 0"]) == 0 {
			t.Errorf("%v: the other reader saw nothing", channel)
		}
	}
}

// TestUnclosedWriterIsAnError checks that a Node fails if it does not close its stream: the
// end of the stream may be missing.
func TestUnclosedWriterIsAnError(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		r := newRig(t, oneEdge(1, 1, channel, dag.OneToOne), programFunc(func(n *NodeRun) error {
			for _, c := range n.Outputs() {
				if _, err := sender(n, c, 0); err != nil {
					return err
				}
			}
			return nil
		}))
		r.properties["hammr.channel.connect.timeout"] = "500ms" // also limits how long the reader waits for the cause
		r.run()
		if f := r.mu.last[r.layout.GroupOf(0, 0)].GetFailure(); !strings.Contains(f.GetCause(), "not closed") {
			t.Errorf("%v: failure %v", channel, f)
		}
	}
}

// TestMissingPeer waits for a peer until the timeout.
func TestMissingPeer(t *testing.T) {
	for _, machines := range []int{0, 2} {
		g := oneEdge(1, 1, dag.ChannelTCP, dag.OneToOne)
		r := newRig(t, g, &relay{records: 10, seen: make(map[string][]string)})
		if machines > 0 {
			r.network(machines)
		}
		r.properties["hammr.channel.connect.timeout"] = "20ms"
		r.mu.Lock()
		run := r.startLocked(dag.GroupID{})
		r.mu.Unlock()
		go r.receive(run)
		r.mu.ended.Wait()
		if f := r.mu.last[dag.GroupID{}].GetFailure(); !strings.Contains(f.GetCause(), "has not connected within 20ms") {
			t.Errorf("%d machines: failure %v", machines, f)
		}
	}
}

// TestLostOutputNamesItsAttempt checks that the error names the right attempt for every
// edge.
func TestLostOutputNamesItsAttempt(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "c", Connection: dag.Broadcast}, {From: "b", To: "c"}},
	}
	for edge, attempt := range []string{"attempt_1_0001_0_1", "attempt_1_0001_1_1"} {
		for _, machines := range []int{0, 2} {
			r := newRig(t, g, &relay{records: 100, seen: make(map[string][]string)})
			if machines > 0 {
				r.network(machines)
			}
			r.misreport = func(o *taskproc.MapOutput) {
				if int(o.Edge) == edge && o.Task == 1 {
					o.Path += "x"
				}
			}
			r.run()
			if f := r.mu.last[dag.GroupID{Class: 2}].GetFailure(); f.GetLostMapAttempt() != attempt {
				t.Errorf("edge %d, %d machines: failure %v", edge, machines, f)
			}
		}
	}
}

// TestLostStreamWaitsForTheCause checks that an attempt that loses a stream reports no
// failure if it is killed in time.
func TestLostStreamWaitsForTheCause(t *testing.T) {
	var r *rig
	lost := make(chan struct{})
	p := &relay{records: 5000, seen: make(map[string][]string)}
	r = newRig(t, oneEdge(1, 1, dag.ChannelTCP, dag.OneToOne), programFunc(func(n *NodeRun) error {
		if n.Stage() == "to" {
			defer close(lost)
			return p.RunNode(n)
		}
		w, err := n.SendStream(n.Outputs()[0], 0) // both ends are connected now
		if err != nil {
			return err
		}
		if err := w.Write(nil, nil); err != nil {
			return err
		}
		return errors.New("no use")
	}))
	go func() {
		<-lost
		r.send("to", 0, &taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "its gang is over"}}})
	}()
	r.run()
	if last := r.mu.last[r.layout.GroupOf(0, 0)]; last.GetFailure().GetCause() != "no use" {
		t.Errorf("the writer ended with %v", last)
	}
	if last := r.mu.last[r.layout.GroupOf(1, 0)]; last.GetExited() == nil {
		t.Errorf("the reader ended with %v", last)
	}
}
