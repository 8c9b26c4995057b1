package task

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/fault"
)

// forwarder is a program that forwards every record along every edge, and stops for a
// checkpoint where it can. It keeps no record across a checkpoint. At the end, the test
// compares the records that its Nodes have seen.
type forwarder struct {
	records     int            // number of records of each source Node
	tick        func(*NodeRun) // called at each record
	checkpoints atomic.Int64   // number of checkpoints of Nodes
	mu          sync.Mutex
	seen        map[string][]string // records seen, by Node
}

func (p *forwarder) RunNode(n *NodeRun) error {
	out, err := openForwardedOutputs(n)
	if err != nil {
		return err
	}
	if err := p.forward(n, out); err != nil {
		return err
	}
	if n.Checkpointed() {
		p.checkpoints.Add(1)
	}
	return out.end(n.Checkpointed())
}

// forward forwards the records that the Node reads.
func (p *forwarder) forward(n *NodeRun, out *forwardedOutputs) error {
	take := func(key, value string) error {
		p.tick(n)
		p.mu.Lock()
		p.seen[n.String()] = append(p.seen[n.String()], key+"="+value)
		p.mu.Unlock()
		return out.emit(keyValue{key, value})
	}
	if m := n.Map(); m != nil {
		return p.forwardSource(m, take)
	}
	if c := n.Inputs()[0]; c.isLive() {
		return forwardLive(n, c, take)
	}
	return p.forwardInputs(n, take)
}

// forwardInputs forwards what the Node reads from files. Of three inputs, the last is a side,
// which an attempt that resumes reads again. Of two, the values of the second come last.
func (p *forwarder) forwardInputs(n *NodeRun, take func(key, value string) error) error {
	inputs := n.Inputs()
	switch len(inputs) {
	case 2:
		r, group, second := n.CoReduce(inputs[0].Input, inputs[1].Input), "", false
		return forwardFiles(r, func(key, value string) error {
			if group == key && second && !r.IsSecond() {
				return fmt.Errorf("key %s: a value of the first input after one of the second", key)
			}
			group, second = key, r.IsSecond()
			return take(key, value)
		})
	case 3:
		r := n.MainReduce(inputs[0].Input, inputs[1].Input)
		side := n.Reduce(inputs[2].Input)
		defer side.Close()
		takeOnce := func(key, value string) error {
			if n.resumed != nil {
				return nil // the first attempt has taken the side
			}
			return take(key, value)
		}
		if err := forwardFiles(side, takeOnce); err != nil {
			return err
		}
		return forwardFiles(r, take)
	}
	return forwardFiles(n.Reduce(), take)
}

func (p *forwarder) forwardSource(m *Map, take func(key, value string) error) error {
	all, first := sourceRecords(m.Node.Stage(), m.Node.Number(), p.records), int64(100*m.Node.Number())
	for at := m.Work().Start.Offset; at < first+int64(len(all)); at++ {
		if m.Node.Signalled() {
			if act, err := m.PollSignals(dag.Position{Offset: at}); act == Stop {
				return err
			}
		}
		if r := all[at-first]; take(r.key, r.value) != nil {
			return errors.New("a record that is not taken")
		}
	}
	return nil
}

func forwardFiles(r *Reduce, take func(key, value string) error) error {
	g, err := r.Groups(nil)
	if err != nil || g == nil {
		return err
	}
	for {
		if r.Node.Signalled() {
			if act, err := r.PollSignals(); act == Stop {
				return err
			}
		}
		if !g.NextGroup() {
			return g.Err()
		}
		for g.NextValue() {
			if err := take(string(g.FullKey()), string(g.Value())); err != nil {
				return err
			}
		}
		r.CountGroup()
	}
}

func forwardLive(n *NodeRun, c Channel, take func(key, value string) error) error {
	takePolled := func(key, value string) error {
		if n.Signalled() {
			if _, err := n.PollSignals(); err != nil {
				return err
			}
		}
		return take(key, value)
	}
	if c.Kind == dag.ChannelTCP {
		r, err := n.ReceiveStreams(c)
		for err == nil && r.Next() {
			err = takePolled(string(r.Key()), string(r.Value()))
		}
		return errors.Join(err, r.Err())
	}
	for r := n.ReceiveShared(c); ; {
		batch, _, ok, err := r.Receive(n.Attempt.Context())
		if err != nil || !ok {
			return err
		}
		if err := takePolled(batch.(keyValue).key, batch.(keyValue).value); err != nil {
			return err
		}
	}
}

// forwardedOutputs are all outputs of a Node.
type forwardedOutputs struct {
	emits []func(keyValue) error
	ends  []func(checkpointed bool) error
}

func openForwardedOutputs(n *NodeRun) (*forwardedOutputs, error) {
	out := new(forwardedOutputs)
	for _, c := range n.Outputs() {
		if c.Kind == dag.ChannelFile {
			if err := out.openFile(n, c); err != nil {
				return nil, err
			}
			continue
		}
		for _, peer := range c.Peers {
			if err := out.openLive(n, c, peer); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (out *forwardedOutputs) openFile(n *NodeRun, c Channel) error {
	opts, err := n.CollectorOptions(c)
	if err != nil {
		return err
	}
	b, err := shuffle.NewSortBuffer(n.Attempt.Context(), opts)
	if err != nil {
		return err
	}
	n.SetCollector(c, b)
	out.emits = append(out.emits, func(r keyValue) error {
		b.Emit([]byte(r.key), []byte(r.value))
		return b.Err()
	})
	return nil
}

func (out *forwardedOutputs) openLive(n *NodeRun, c Channel, peer int) error {
	var send func(keyValue) error
	var end func(checkpointed bool) error
	if c.Kind == dag.ChannelSHM {
		w := n.SendShared(c, peer)
		send = func(r keyValue) error { return w.Send(n.Attempt.Context(), r) }
		end = func(checkpointed bool) error {
			w.End(checkpointed)
			return nil
		}
	} else {
		w, err := n.SendStream(c, peer)
		if err != nil {
			return err
		}
		send = func(r keyValue) error { return w.Write([]byte(r.key), []byte(r.value)) }
		end = w.End
	}
	out.ends = append(out.ends, end)
	out.emits = append(out.emits, func(r keyValue) error {
		if len(chosen(c, peer, []keyValue{r})) == 0 {
			return nil
		}
		return send(r)
	})
	return nil
}

func (out *forwardedOutputs) emit(r keyValue) (err error) {
	for _, emit := range out.emits {
		err = errors.Join(err, emit(r))
	}
	return err
}

func (out *forwardedOutputs) end(checkpointed bool) (err error) {
	for _, end := range out.ends {
		err = errors.Join(err, end(checkpointed))
	}
	return err
}

// checkpointableGraph draws a graph each of whose Nodes reads files, or one live edge.
func checkpointableGraph(r *rand.Rand) dag.Graph {
	for {
		g := randomGraph(r)
		fits := true
		for _, s := range g.Stages {
			live, all := 0, 0
			for _, e := range g.Edges {
				if e.To == s.Name {
					all++
					if e.Channel != dag.ChannelFile {
						live++
					}
				}
			}
			fits = fits && (live == 0 || all == 1)
		}
		if fits {
			return g
		}
	}
}

// TestEveryGraphResumesFromCheckpoints checkpoints whole bundles of random graphs at random
// times. Each Node sees each record once.
func TestEveryGraphResumesFromCheckpoints(t *testing.T) {
	var checkpoints int64
	for seed := range testlevel.Seeds(40, 600) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 7))
			g := checkpointableGraph(random)
			p := &forwarder{records: random.IntN(90), seen: make(map[string][]string)}
			r := newRig(t, g, p)
			r.combineSets, r.resumes = randomCombineSets(g), true
			if seed%4 == 0 {
				r.network(2)
			}
			p.tick = r.checkpointAtRandom(random, 20)
			r.run()
			r.allDone()
			compareSeen(t, g, p.seen, twin(g, p.records, r.combineSets))
			checkpoints += p.checkpoints.Load()
		})
	}
	if checkpoints < testlevel.Choose[int64](10, 1500) {
		t.Errorf("%d nodes were checkpointed: too few to show anything", checkpoints)
	}
}

// checkpointAtRandom returns a function that is called at records. It checkpoints the bundle
// of the Node at some of them, on average at least one in most.
func (r *rig) checkpointAtRandom(random *rand.Rand, most int) func(*NodeRun) {
	var mu sync.Mutex
	one := 1 + random.IntN(most)
	return func(n *NodeRun) {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(one) == 0 {
			r.checkpointBundle(r.layout.BundleOf(groupOf(n.Attempt.Start)))
		}
	}
}

// checkpointBundle orders all running groups of a bundle to write checkpoints.
func (r *rig) checkpointBundle(id dag.BundleID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, group := range r.groupsIn(id) {
		if run := r.mu.runs[group]; run != nil && r.mu.last[group] == nil {
			run.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}})
		}
	}
}

func (r *rig) groupsIn(id dag.BundleID) (groups []dag.GroupID) {
	for _, span := range r.layout.GroupsOf(id) {
		for i := span.First; i < span.End; i++ {
			groups = append(groups, dag.GroupID{Class: span.Class, Index: i})
		}
	}
	return groups
}

// resumeBundleLocked resumes the checkpointed groups of a bundle when the last one has ended.
func (r *rig) resumeBundleLocked(id dag.BundleID) {
	groups := r.groupsIn(id)
	for _, g := range groups {
		switch last := r.mu.last[g]; {
		case last == nil:
			return
		case last.GetCheckpointed() == nil && last.GetFinished() == nil:
			r.t.Errorf("group %v ended with %v", g, last)
			return
		}
	}
	starts := make(map[dag.GroupID]*taskproc.Start)
	r.mu.incarnation[id]++
	for _, g := range groups {
		if c := r.mu.last[g].GetCheckpointed().GetCheckpoint(); c != nil {
			start := r.start(g)
			start.AttemptId += fmt.Sprintf("_%d", r.mu.incarnation[id])
			start.LocalDir += fmt.Sprintf("_%d", r.mu.incarnation[id])
			start.Checkpoint = c
			if start.Bundle != nil {
				start.Bundle.Incarnation = int32(1 + r.mu.incarnation[id])
			}
			starts[g] = start
		}
	}
	for g, start := range starts {
		delete(r.mu.last, g)
		run := r.beginLocked(g, start)
		go r.receive(run)
	}
	for edge := range r.graph.Edges {
		r.reportLocked(int32(edge))
	}
}

// TestGroupContinuesWhenTheDiskIsFull runs a group of Nodes whose checkpoint cannot be
// written. The group declines, continues from memory, and can be checkpointed again.
func TestGroupContinuesWhenTheDiskIsFull(t *testing.T) {
	declined := 0
	for seed := range testlevel.Seeds(15, 120) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 11))
			g := dag.Graph{
				Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 2}, {Name: "c", Nodes: 2}},
				Edges: []dag.Edge{
					{From: "a", To: "b", Channel: dag.ChannelSHM, Connection: dag.OneToOne},
					{From: "b", To: "c", Channel: dag.ChannelSHM, Connection: dag.AllToAll},
				},
			}
			p := &forwarder{records: 90, seen: make(map[string][]string)}
			r := newRig(t, g, p)
			r.resumes = true
			full := fault.Rule{Op: fault.Create, Path: "/" + testJob + "/*/*checkpoint", Times: 1 + random.IntN(3), Err: syscall.ENOSPC}
			r.server.Local = fault.New(r.server.Local, fault.Options{}, full)
			p.tick = r.checkpointAtRandom(random, 20)
			r.run()
			r.allDone()
			compareSeen(t, g, p.seen, twin(g, p.records, nil))
			declined += r.mu.declined
		})
	}
	if declined < testlevel.Choose(6, 60) {
		t.Errorf("%d checkpoints declined: too few to show anything", declined)
	}
}

// TestGangContinuesWhenADiskIsFull runs a gang in which one member finds no disk space
// before the streams have ended. This member declines and continues; the others are
// checkpointed when it has finished.
func TestGangContinuesWhenADiskIsFull(t *testing.T) {
	declined, taken := 0, int64(0)
	for seed := range testlevel.Seeds(40, 600) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 13))
			g := dag.Graph{
				Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 2}},
				Edges:  []dag.Edge{{From: "a", To: "b", Channel: dag.ChannelTCP, Connection: dag.AllToAll}},
			}
			p := &forwarder{records: 90, seen: make(map[string][]string)}
			r := newRig(t, g, p)
			r.resumes = true
			full := fault.Rule{Op: []fault.Op{fault.Create, fault.Write}[random.IntN(2)], Path: "/" + testJob + "/attempt_1_0001_0_1/checkpoint-space", Err: syscall.ENOSPC}
			r.server.Local = fault.New(r.server.Local, fault.Options{}, full)
			p.tick = r.checkpointAtRandom(random, 3)
			r.run()
			r.allDone()
			compareSeen(t, g, p.seen, twin(g, p.records, nil))
			declined, taken = declined+r.mu.declined, taken+p.checkpoints.Load()
		})
	}
	if declined < testlevel.Choose(2, 30) || taken < testlevel.Choose[int64](2, 30) {
		t.Errorf("%d checkpoints declined, %d nodes checkpointed: too few to show anything", declined, taken)
	}
}

// TestAReaderInAGangOnAFullDiskDoesNotFail runs a reader whose writer has stopped, and which
// cannot write its checkpoint. The reader ends, which counts as no failure.
func TestAReaderInAGangOnAFullDiskDoesNotFail(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "b", Channel: dag.ChannelTCP, Connection: dag.OneToOne}},
	}
	p := &forwarder{records: 90, seen: make(map[string][]string)}
	r := newRig(t, g, p)
	full := fault.Rule{Op: fault.Create, Path: "/" + testJob + "/attempt_1_0001_1_0/checkpoint", Err: syscall.ENOSPC}
	r.server.Local = fault.New(r.server.Local, fault.Options{}, full)
	p.tick = func(n *NodeRun) {
		if n.Stage() == "a" {
			r.send("a", 0, &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}})
			<-n.Attempt.signals.checkpointRequested()
		}
	}
	last := r.run()
	if a := last[dag.GroupID{}]; a.GetCheckpointed() == nil {
		t.Errorf("the writer ended with %v", a)
	}
	if b := last[dag.GroupID{Class: 1}]; !strings.Contains(b.GetExited().GetCause(), "checkpoint not written: ") {
		t.Errorf("the reader ended with %v", b)
	}
}

// TestCheckpointWithinAGroupWaitsForTheNext requests a checkpoint between two values of a
// group from live input. The checkpoint takes effect before the next group.
func TestCheckpointWithinAGroupWaitsForTheNext(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}},
		Edges:  []dag.Edge{{From: "a", To: "b", Channel: dag.ChannelSHM, Connection: dag.OneToOne}},
	}
	r := newRig(t, g, programFunc(func(n *NodeRun) error {
		if n.Map() != nil {
			n.SendShared(n.Outputs()[0], 0).Close()
			return nil
		}
		in := n.ReceiveShared(n.Inputs()[0])
		if _, _, ok, err := in.Receive(n.Attempt.Context()); ok || err != nil {
			return fmt.Errorf("received: %v, %w", ok, err)
		}
		<-n.Attempt.signals.checkpointRequested()
		n.PollProgress()
		if !n.Signalled() {
			return errors.New("the order is forgotten")
		}
		if act, err := n.PollSignals(); act != Stop || err != nil {
			return fmt.Errorf("action %v, %w", act, err)
		}
		return nil
	}))
	order := &taskproc.ToTask{Message: &taskproc.ToTask_Preempt{Preempt: &taskproc.Preempt{}}}
	if last := r.alone(r.start(dag.GroupID{}), order); last.GetCheckpointed() == nil {
		t.Errorf("it ended with %v", last)
	}
}
