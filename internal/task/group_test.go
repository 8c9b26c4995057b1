package task

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// relay is a program that gives every record on along every edge: whole, or to
// one reader where there is a choice. A source Node has records of its own.
type relay struct {
	records int // of each source Node
	mu      sync.Mutex
	seen    map[string][]string // by Node
}

type keyValue struct{ key, value string }

func sourceRecords(stage string, node, n int) []keyValue {
	var out []keyValue
	for i := range n {
		out = append(out, keyValue{fmt.Sprintf("key %d", (i*7+node)%50), fmt.Sprintf("%s %d, %d", stage, node, i)})
	}
	return out
}

func (p *relay) RunNode(n *Node) error {
	records, err := p.read(n)
	if err != nil {
		return err
	}
	p.mu.Lock()
	for _, r := range records {
		p.seen[n.String()] = append(p.seen[n.String()], r.key+"="+r.value)
	}
	p.mu.Unlock()
	var group errgroup.Group
	for _, c := range n.Outputs() {
		if c.Kind == dag.ChannelFile {
			if err := writeFileTo(n, c, records); err != nil {
				return err
			}
			continue
		}
		for _, peer := range c.Peers {
			send, err := sender(n, c, peer)
			if err != nil {
				return err
			}
			group.Go(func() error { return send(chosen(c, peer, records)) })
		}
	}
	return group.Wait()
}

// chosen are the records that a reader gets.
func chosen(c Channel, peer int, records []keyValue) []keyValue {
	if c.Connection != dag.AllToAll {
		return records
	}
	var out []keyValue
	for _, r := range records {
		if shuffle.HashPartition([]byte(r.key), len(c.Peers)) == peer {
			out = append(out, r)
		}
	}
	return out
}

func writeFileTo(n *Node, c Channel, records []keyValue) error {
	opts, err := n.CollectorOptions(c)
	if err != nil {
		return err
	}
	b, err := shuffle.NewSortBuffer(n.Context(), opts)
	if err != nil {
		return err
	}
	n.SetCollector(c, b)
	for _, r := range records {
		b.Emit([]byte(r.key), []byte(r.value))
	}
	return b.Err()
}

// sender is what sends records to a peer through a stream or memory.
func sender(n *Node, c Channel, peer int) (func([]keyValue) error, error) {
	if c.Kind == dag.ChannelSHM {
		w := n.SendShared(c, peer)
		return func(records []keyValue) error {
			defer w.Close()
			for some := range slices.Chunk(records, 3) {
				if err := w.Send(n.Context(), some); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	w, err := n.SendStream(c, peer)
	if err != nil {
		return nil, err
	}
	return func(records []keyValue) error {
		for _, r := range records {
			if err := w.Write([]byte(r.key), []byte(r.value)); err != nil {
				return err
			}
		}
		return w.Close()
	}, nil
}

// read reads all inputs at once.
func (p *relay) read(n *Node) ([]keyValue, error) {
	if n.Map() != nil {
		if start := n.Map().Work().Start.Offset; start != int64(100*n.Number()) {
			return nil, fmt.Errorf("%v was given a split that begins at %d", n, start)
		}
		return sourceRecords(n.Stage(), n.Number(), p.records), nil
	}
	var group errgroup.Group
	parts := make([][]keyValue, len(n.Inputs())+1)
	for i, c := range n.Inputs() {
		switch c.Kind {
		case dag.ChannelTCP:
			r, err := n.ReceiveStreams(c)
			if err != nil {
				return nil, err
			}
			group.Go(func() error { return readStreams(r, &parts[i]) })
		case dag.ChannelSHM:
			group.Go(func() error { return readShared(n, n.ReceiveShared(c), &parts[i]) })
		}
	}
	if len(fileChannels(n.Inputs())) > 0 {
		r := n.Reduce()
		group.Go(func() error { return readFiles(r, &parts[len(parts)-1]) })
	}
	err := group.Wait()
	return slices.Concat(parts...), err
}

func readFiles(r *Reduce, into *[]keyValue) error {
	g, err := r.Groups(nil)
	if err != nil {
		return err
	}
	for g.NextGroup() {
		for g.NextValue() {
			*into = append(*into, keyValue{string(g.FullKey()), string(g.Value())})
		}
		r.CountGroup()
	}
	return g.Err()
}

func readStreams(r *StreamReader, into *[]keyValue) error {
	for r.Next() {
		*into = append(*into, keyValue{string(r.Key()), string(r.Value())})
	}
	return r.Err()
}

func readShared(n *Node, r *SharedReader, into *[]keyValue) error {
	for {
		batch, _, ok, err := r.Receive(n.Context())
		if err != nil || !ok {
			return err
		}
		*into = append(*into, batch.([]keyValue)...)
	}
}

// twin is what each Node of a relay sees, worked out stage by stage.
func twin(g dag.Graph, records int, shares []*taskproc.Share) map[string][]string {
	held := make(map[string][]keyValue)
	name := func(stage string, node int) string { return fmt.Sprintf("%s %d", stage, node) }
	for _, s := range g.Stages { // in topological order
		for node := range s.Nodes {
			if g.IsSource(s.Name) {
				held[name(s.Name, node)] = sourceRecords(s.Name, node, records)
			}
			for i, e := range g.Edges {
				if e.To != s.Name {
					continue
				}
				for from := range g.Stages[g.StageIndex(e.From)].Nodes {
					for _, r := range held[name(e.From, from)] {
						if goesTo(g, e, i, from, node, r, shares) {
							held[name(s.Name, node)] = append(held[name(s.Name, node)], r)
						}
					}
				}
			}
		}
	}
	seen := make(map[string][]string)
	for node, records := range held {
		for _, r := range records {
			seen[node] = append(seen[node], r.key+"="+r.value)
		}
	}
	return seen
}

func goesTo(g dag.Graph, e dag.Edge, edge, from, to int, r keyValue, shares []*taskproc.Share) bool {
	switch e.Connection {
	case dag.AllToAll:
		return shuffle.HashPartition([]byte(r.key), g.Stages[g.StageIndex(e.To)].Nodes) == to
	case dag.OneToOne:
		return from == to
	case dag.PerMachine:
		return slices.ContainsFunc(shares, func(s *taskproc.Share) bool {
			return int(s.Edge) == edge && int(s.Node) == to && slices.Contains(s.Writers, int32(from))
		})
	}
	return true
}

// randomGraph draws a graph that can be run.
func randomGraph(r *rand.Rand) dag.Graph {
	for {
		var g dag.Graph
		for i := range 2 + r.IntN(4) {
			g.Stages = append(g.Stages, dag.Stage{Name: fmt.Sprintf("s%d", i), Nodes: 1 + r.IntN(3)})
		}
		for to := 1; to < len(g.Stages); to++ {
			for from := range to {
				if r.IntN(2) > 0 {
					e := dag.Edge{From: g.Stages[from].Name, To: g.Stages[to].Name}
					e.Channel, e.Connection = dag.Channel(r.IntN(3)), dag.Connection(r.IntN(5))
					g.Edges = append(g.Edges, e)
				}
			}
		}
		if g.Validate() == nil {
			return g
		}
	}
}

// dealShares gives the writers of each per-machine edge to its readers in turn.
func dealShares(g dag.Graph) []*taskproc.Share {
	var shares []*taskproc.Share
	for i, e := range g.Edges {
		if e.Connection != dag.PerMachine {
			continue
		}
		readers := g.Stages[g.StageIndex(e.To)].Nodes
		for node := range readers {
			s := &taskproc.Share{Edge: int32(i), Node: int32(node)}
			for w := node; w < g.Stages[g.StageIndex(e.From)].Nodes; w += readers {
				s.Writers = append(s.Writers, int32(w))
			}
			shares = append(shares, s)
		}
	}
	return shares
}

// TestEveryGraphRelaysEveryRecord: whatever the graph and however its Nodes are
// joined, each sees what it should, in memory and over sockets.
func TestEveryGraphRelaysEveryRecord(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			g := randomGraph(random)
			p := &relay{records: random.IntN(300), seen: make(map[string][]string)}
			r := newRig(t, g, p)
			r.shares = dealShares(g)
			if seed%4 == 0 {
				r.network(2)
			}
			r.run()
			r.allDone()
			compareSeen(t, g, p.seen, twin(g, p.records, r.shares))
		})
	}
}

func compareSeen(t *testing.T, g dag.Graph, got, want map[string][]string) {
	t.Helper()
	for node := range want {
		slices.Sort(got[node])
		slices.Sort(want[node])
		if !slices.Equal(got[node], want[node]) {
			t.Errorf("%s saw %d records, want %d, in\n%v", node, len(got[node]), len(want[node]), g)
		}
	}
}

// oneEdge is a graph of two stages.
func oneEdge(writers, readers int, channel dag.Channel, connection dag.Connection) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "from", Nodes: writers}, {Name: "to", Nodes: readers}},
		Edges:  []dag.Edge{{From: "from", To: "to", Channel: channel, Connection: connection}},
	}
}

// TestTheFirstCauseIsTold: a Node that fails ends its group, and the others of
// its gang fail for want of it, wherever it is in the graph.
func TestTheFirstCauseIsTold(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		for _, failing := range []string{"from", "to"} {
			for _, machines := range []int{0, 2} {
				t.Run(fmt.Sprint(channel, failing, machines), func(t *testing.T) {
					p := &relay{records: 5000, seen: make(map[string][]string)}
					r := newRig(t, oneEdge(2, 2, channel, dag.AllToAll), programFunc(func(n *Node) error {
						if n.Stage() == failing && n.Number() == 1 {
							return errors.New("no use")
						}
						return p.RunNode(n)
					}))
					if machines > 0 {
						r.network(machines)
					}
					r.properties["hammr.channel.connect.timeout"] = "500ms" // for those whom the failing Node has not met
					r.run()
					stage := r.graph.StageIndex(failing)
					if f := r.mu.last[r.layout.GroupOf(stage, 1)].GetFailure(); f.GetCause() != "no use" {
						t.Errorf("the failing group ended with %v", f)
					}
					if failing == "to" && machines > 0 {
						return // the network may have taken all that was sent
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

// TestAPanicOfANode is a failure with its stack.
func TestAPanicOfANode(t *testing.T) {
	r := newRig(t, oneEdge(2, 1, dag.ChannelSHM, dag.Gather), programFunc(func(n *Node) error {
		if n.Stage() == "from" && n.Number() == 0 {
			panic("no more")
		}
		<-n.Context().Done()
		return context.Cause(n.Context())
	}))
	for _, last := range r.run() {
		if f := last.GetFailure(); f.GetCause() != "panic: no more" || !strings.Contains(f.GetStack(), "TestAPanicOfANode") {
			t.Errorf("ended with %v", last)
		}
	}
}

// TestKillInTheMiddle ends a group that waits, and so its gang.
func TestKillInTheMiddle(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		started := make(chan struct{})
		p := &relay{records: 5000, seen: make(map[string][]string)}
		r := newRig(t, oneEdge(2, 2, channel, dag.AllToAll), programFunc(func(n *Node) error {
			if n.Stage() == "to" && n.Number() == 1 {
				close(started)
				<-n.Context().Done()
				return context.Cause(n.Context())
			}
			return p.RunNode(n)
		}))
		r.properties["hammr.channel.connect.timeout"] = "500ms" // for those whom the killed Node has not met
		go func() {
			<-started
			r.send("to", 1, &taskproc.ToTask{Message: &taskproc.ToTask_Kill{Kill: &taskproc.Kill{Cause: "enough"}}})
		}()
		r.run()
		if last := r.mu.last[r.layout.GroupOf(1, 1)]; last.GetKilled() == nil {
			t.Errorf("%v: the killed group ended with %v", channel, last)
		}
		for node := range 2 {
			if id := r.layout.GroupOf(0, node); r.mu.last[id].GetDone() != nil {
				t.Errorf("%v: writing group %v is done", channel, id)
			}
		}
	}
}

// TestNodesThatHaveNothingToSay end well, and so do those that do not listen.
func TestNodesThatHaveNothingToSay(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		p := &relay{records: 5000, seen: make(map[string][]string)}
		r := newRig(t, oneEdge(3, 2, channel, dag.AllToAll), programFunc(func(n *Node) error {
			if n.Number() == 1 { // one that sends nothing, one that hears nothing
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

// TestAWriterIsClosed, or the Node fails: what it sent last might be missing.
func TestAWriterIsClosed(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		r := newRig(t, oneEdge(1, 1, channel, dag.OneToOne), programFunc(func(n *Node) error {
			for _, c := range n.Outputs() {
				if _, err := sender(n, c, 0); err != nil {
					return err
				}
			}
			return nil
		}))
		r.run()
		if f := r.mu.last[r.layout.GroupOf(0, 0)].GetFailure(); !strings.Contains(f.GetCause(), "not closed") {
			t.Errorf("%v: failure %v", channel, f)
		}
	}
}

// TestNobodyAtTheOtherEnd of a stream, for longer than is waited.
func TestNobodyAtTheOtherEnd(t *testing.T) {
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
		go r.attend(run)
		r.mu.ended.Wait()
		if f := r.mu.last[dag.GroupID{}].GetFailure(); !strings.Contains(f.GetCause(), "has not come within 20ms") {
			t.Errorf("%d machines: failure %v", machines, f)
		}
	}
}

// TestWhoseOutputIsLost is told right for every edge.
func TestWhoseOutputIsLost(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "c", Connection: dag.Broadcast}, {From: "b", To: "c"}},
	}
	for edge, attempt := range []string{"attempt_0_1", "attempt_1_1"} {
		for _, machines := range []int{0, 2} {
			r := newRig(t, g, &relay{records: 100, seen: make(map[string][]string)})
			if machines > 0 {
				r.network(machines)
			}
			r.lie = func(o *taskproc.MapOutput) {
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

// TestOthersGoOnWhenTheyAreToPause: only a Node alone that reads a split or
// files can be paused.
func TestOthersGoOnWhenTheyAreToPause(t *testing.T) {
	for _, channel := range []dag.Channel{dag.ChannelTCP, dag.ChannelSHM} {
		var r *rig
		p := &relay{records: 1000, seen: make(map[string][]string)}
		g := oneEdge(2, 2, channel, dag.AllToAll)
		r = newRig(t, g, programFunc(func(n *Node) error {
			if n.Stage() == "from" && n.Number() == 0 {
				r.send("from", 0, &taskproc.ToTask{Message: &taskproc.ToTask_Pause{Pause: &taskproc.Pause{}}})
				for !n.signal.pause.Load() {
					<-n.signal.paused
				}
				if act, err := n.Map().Attend(dag.Position{Offset: 50}); act != Continue || err != nil {
					return fmt.Errorf("action %v, %w", act, err)
				}
			}
			return p.RunNode(n)
		}))
		r.run()
		r.allDone()
		compareSeen(t, g, p.seen, twin(g, p.records, nil))
	}
}

// TestWhoLosesAStreamWaitsForTheCause: killed meanwhile, it has no failure of its
// own.
func TestWhoLosesAStreamWaitsForTheCause(t *testing.T) {
	var r *rig
	lost := make(chan struct{})
	p := &relay{records: 5000, seen: make(map[string][]string)}
	r = newRig(t, oneEdge(1, 1, dag.ChannelTCP, dag.OneToOne), programFunc(func(n *Node) error {
		if n.Stage() == "to" {
			defer close(lost)
			return p.RunNode(n)
		}
		w, err := n.SendStream(n.Outputs()[0], 0) // now they have met
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
	if last := r.mu.last[r.layout.GroupOf(1, 0)]; last.GetKilled() == nil {
		t.Errorf("the reader ended with %v", last)
	}
}
