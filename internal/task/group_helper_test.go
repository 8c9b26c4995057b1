package task

import (
	"context"
	"fmt"
	"net"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/local"
	"github.com/hammr/hammr/storage/mem"
)

// programFunc is a Program that is one function.
type programFunc func(n *NodeRun) error

func (f programFunc) RunNode(n *NodeRun) error { return f(n) }

// rig acts as jobmaster and tasknodes for one job. It starts all NodeGroups at once and
// reports to each group the outputs of the others.
type rig struct {
	t           testing.TB
	graph       dag.Graph
	layout      *dag.Layout
	server      *Server
	machines    []*machine // machines whose servers carry segments and streams; none: all in memory
	properties  map[string]string
	combineSets []*taskproc.CombineSet
	misreport   func(*taskproc.MapOutput) // changes the report of an output; nil: nothing
	resumes     bool                      // whether checkpointed bundles are resumed

	mu struct {
		sync.Mutex
		runs    map[dag.GroupID]*runningGroup
		written map[int32][]*taskproc.MapOutput // outputs by edge
		last    map[dag.GroupID]*taskproc.FromTask
		ended   sync.WaitGroup

		incarnation map[dag.BundleID]int // how often bundles have resumed
		declined    int                  // number of declined checkpoints
	}
}

// runningGroup is an attempt at one group, seen from its tasknode.
type runningGroup struct {
	id    dag.GroupID
	node  taskproc.TasknodeEnd
	inbox *syncutil.Mailbox[*taskproc.ToTask] // messages for the attempt, in order
	over  chan struct{}
}

// deliver sends the messages of the inbox until the attempt has ended.
func (run *runningGroup) deliver() {
	for {
		select {
		case <-run.inbox.Ready():
			for _, m := range run.inbox.Take() {
				_ = run.node.Send(m) // the attempt may have ended
			}
		case <-run.over:
			return
		}
	}
}

func newRig(t testing.TB, g dag.Graph, prog Program) *rig {
	t.Helper()
	must.Do(t, g.Validate())
	r := &rig{
		t: t, graph: g, layout: g.Layout(), properties: map[string]string{"mapreduce.task.io.sort.mb": "1"},
		server: &Server{Programs: Programs{"p": prog}, Local: mem.New(mem.Options{Name: "rig"})},
	}
	r.mu.runs, r.mu.written = make(map[dag.GroupID]*runningGroup), make(map[int32][]*taskproc.MapOutput)
	r.mu.last, r.mu.incarnation = make(map[dag.GroupID]*taskproc.FromTask), make(map[dag.BundleID]int)
	return r
}

// network places the groups on machines with servers.
func (r *rig) network(machines int) *rig {
	for range machines {
		r.machines = append(r.machines, newMachine(r.t, withoutErrors))
	}
	r.server.Local = local.New(local.Options{})
	return r
}

// run runs all groups to their end and returns their last messages.
func (r *rig) run() map[dag.GroupID]*taskproc.FromTask {
	r.t.Helper()
	var all []*runningGroup
	r.mu.Lock()
	for class, group := range r.layout.Groups {
		for i := range group.Count {
			all = append(all, r.startLocked(dag.GroupID{Class: class, Index: i}))
		}
	}
	for edge := range r.graph.Edges {
		r.reportLocked(int32(edge)) // covers edges whose writers have no Nodes
	}
	r.mu.Unlock()
	for _, run := range all {
		go r.receive(run)
	}
	r.mu.ended.Wait()
	return r.mu.last
}

func (r *rig) startLocked(id dag.GroupID) *runningGroup { return r.beginLocked(id, r.start(id)) }

func (r *rig) beginLocked(id dag.GroupID, start *taskproc.Start) *runningGroup {
	ours, theirs := net.Pipe()
	run := &runningGroup{id: id, node: taskproc.NewTasknodeEnd(ours), inbox: syncutil.NewMailbox[*taskproc.ToTask](), over: make(chan struct{})}
	r.mu.runs[id] = run
	r.mu.ended.Add(2)
	r.mu.ended.Go(run.deliver)
	go func() {
		defer r.mu.ended.Done()
		if err := r.server.Serve(context.Background(), theirs); err != nil {
			r.t.Errorf("serve: %v", err)
		}
	}()
	run.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Start{Start: start}})
	return run
}

// machineOf returns the machine of a group; nil without machines.
func (r *rig) machineOf(id dag.GroupID) *machine {
	if len(r.machines) == 0 {
		return nil
	}
	return r.machines[(id.Class+id.Index)%len(r.machines)]
}

func (r *rig) start(id dag.GroupID) *taskproc.Start {
	attempt := fmt.Sprintf("attempt_1_0001_%d_%d", id.Class, id.Index)
	start := &taskproc.Start{
		JobId: testJob, AttemptId: attempt, Program: "p", Kind: taskproc.Kind_REDUCE, Task: int32(id.Index), Part: int32(id.Index),
		Properties: r.properties, ShuffleToken: testToken, Graph: taskproc.FromGraph(r.graph),
		GroupClass: int32(id.Class), Group: int32(id.Index), CombineSets: r.combineSets, LocalDir: path.Join("/", testJob, attempt),
	}
	if m := r.machineOf(id); m != nil {
		start.ShuffleAddress, start.LocalDir = m.address, path.Join(m.dir, testJob, attempt)
	}
	for _, span := range r.layout.Nodes(id) {
		for node := span.First; node < span.End && r.graph.IsSource(r.graph.Stages[span.Stage].Name); node++ {
			start.Kind = taskproc.Kind_MAP
			split := &taskproc.Split{Parts: []*taskproc.Split_Part{{Start: int64(100 * node), Length: 100, Ordinal: int32(span.Stage)}}}
			start.Sources = append(start.Sources, &taskproc.Source{Stage: int32(span.Stage), Node: int32(node), Split: split})
		}
	}
	if bundle := r.layout.BundleOf(id); r.layout.IsGang(bundle.Class) {
		start.Bundle = r.bundle(bundle)
	}
	return start
}

func (r *rig) bundle(id dag.BundleID) *taskproc.Bundle {
	b := &taskproc.Bundle{Class: int32(id.Class), Bundle: int32(id.Index), Incarnation: 1}
	for _, span := range r.layout.GroupsOf(id) {
		for i := span.First; i < span.End; i++ {
			g := &taskproc.Bundle_Group{Class: int32(span.Class), Group: int32(i)}
			if m := r.machineOf(dag.GroupID{Class: span.Class, Index: i}); m != nil {
				g.Address = m.address
			}
			b.Groups = append(b.Groups, g)
		}
	}
	return b
}

// receive reads the messages of a group to its end.
func (r *rig) receive(run *runningGroup) {
	defer r.mu.ended.Done()
	defer run.node.Close()
	defer close(run.over)
	for {
		m, err := run.node.Receive()
		if err != nil {
			return
		}
		if m.GetProgress() != nil {
			continue
		}
		r.mu.Lock()
		if r.resumes && m.GetPreemptionDeclined() != nil {
			r.mu.declined++
			r.mu.Unlock()
			continue
		}
		r.mu.last[run.id] = m
		r.publishLocked(run.id, m.GetFinished())
		if r.resumes {
			r.resumeBundleLocked(r.layout.BundleOf(run.id))
		}
		r.mu.Unlock()
	}
}

func (r *rig) publishLocked(id dag.GroupID, done *taskproc.Finished) {
	edges := make(map[int32]bool)
	for _, o := range done.GetOutputs() {
		if m := r.machineOf(id); m != nil {
			o.Address = m.address
		}
		if r.misreport != nil {
			r.misreport(o)
		}
		r.mu.written[o.Edge] = append(r.mu.written[o.Edge], o)
		edges[o.Edge] = true
	}
	for edge := range edges {
		r.reportLocked(edge)
	}
}

// reportLocked reports the outputs of an edge to all running groups.
func (r *rig) reportLocked(edge int32) {
	writers := r.graph.Stages[r.graph.StageIndex(r.graph.Edges[edge].From)].Nodes
	update := &taskproc.Outputs{Edge: edge, Outputs: r.mu.written[edge], Complete: len(r.mu.written[edge]) == writers}
	r.postLocked(update)
}

func (r *rig) postLocked(update *taskproc.Outputs) {
	for id, run := range r.mu.runs {
		if r.mu.last[id] == nil && slices.Contains(taskproc.FileInputs(r.start(id)), update.Edge) {
			run.inbox.Put(&taskproc.ToTask{Message: &taskproc.ToTask_Outputs{Outputs: update}})
		}
	}
}

// send sends an order to the group of a Node.
func (r *rig) send(stage string, node int, m *taskproc.ToTask) {
	r.mu.Lock()
	run := r.mu.runs[r.layout.GroupOf(r.graph.StageIndex(stage), node)]
	r.mu.Unlock()
	run.inbox.Put(m)
}

// allDone fails the test unless every group has finished.
func (r *rig) allDone() {
	r.t.Helper()
	for id, last := range r.mu.last {
		if last.GetFinished() == nil {
			r.t.Errorf("group %v ended with %v", id, last)
		}
	}
}
