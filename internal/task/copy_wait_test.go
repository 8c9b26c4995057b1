package task

import (
	"context"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// TestReduceThatKnowsAllOutputsIsNotAliveByItself checks when a reduce that copies counts as
// active without a byte that arrives: only while outputs are awaited that no master has
// announced.
func TestReduceThatKnowsAllOutputsIsNotAliveByItself(t *testing.T) {
	for name, c := range map[string]struct {
		edges []copyEdge
		alive bool
	}{
		"no output is known":               {[]copyEdge{{}}, true},
		"some outputs are copied":          {[]copyEdge{{have: 3, writers: [3]int{writerCopying: 2}}}, true},
		"all outputs are known":            {[]copyEdge{{have: 3, writers: [3]int{writerCopying: 2}, complete: true}}, false},
		"one of two edges is complete":     {[]copyEdge{{complete: true}, {have: 1}}, true},
		"both edges are complete":          {[]copyEdge{{complete: true}, {writers: [3]int{writerCopying: 1}, complete: true}}, false},
		"a known writer has not written":   {[]copyEdge{{Channel: peers(1, 2, 3), have: 1, writers: [3]int{writerCopying: 1}}}, true},
		"all known writers have written":   {[]copyEdge{{Channel: peers(1, 2, 3), have: 1, writers: [3]int{writerCopying: 2}}}, false},
		"they have, and others still work": {[]copyEdge{{Channel: peers(4), writers: [3]int{writerCopying: 1}}}, false},
	} {
		p := &copyPhase{edges: make(map[int]*copyEdge)}
		for i := range c.edges {
			p.edges[i] = &c.edges[i]
		}
		if got := p.awaitsWriters(); got != c.alive {
			t.Errorf("%s: awaits writers is %v", name, got)
		}
	}
	n := new(NodeRun)
	g := &groupRun{nodes: []*NodeRun{n}}
	g.laidOut.Store(true)
	n.mu.phase = "copy"
	if g.inEngine() {
		t.Error("a reduce is active because it is in the copy phase")
	}
	over := n.beginWait()
	if !g.inEngine() {
		t.Error("a reduce that awaits writers is not active")
	}
	if over(); g.inEngine() {
		t.Error("a reduce is active after its wait")
	}
}

// peers returns an edge along which a reduce reads these writers.
func peers(nodes ...int) Channel { return Channel{Edge: 1, Peers: nodes} }

// TestReduceAwaitsTheNextOutputOfARevokedOne revokes an output that is being copied. The reduce
// then awaits a writer, which may run for hours, until another output of it is announced.
func TestReduceAwaitsTheNextOutputOfARevokedOne(t *testing.T) {
	hangs := func(ctx context.Context, _ string) (storage.FS, string, error) {
		<-ctx.Done()
		return nil, "", ctx.Err()
	}
	fetcher := transfer.NewFetcher(transfer.FetcherConfig{Resolve: hangs})
	defer fetcher.Close()
	copier := transfer.NewCopier(t.Context(), transfer.CopierConfig{Fetcher: fetcher, GiveUpAfter: time.Hour})
	defer copier.Close()
	attempt := &Attempt{Start: &taskproc.Start{JobId: testJob}}
	e := &copyEdge{Channel: peers(1, 2), have: 1}
	p := &copyPhase{
		r: &Reduce{Node: &NodeRun{Attempt: attempt}}, edges: map[int]*copyEdge{1: e}, copier: copier, writers: make(map[writer]*writerState),
	}
	want := func(when string, alive bool) {
		t.Helper()
		if got := p.awaitsWriters(); got != alive {
			t.Errorf("%s: awaits writers is %v", when, got)
		}
	}
	output := func(attempt string) *taskproc.MapOutput {
		return &taskproc.MapOutput{Edge: 1, Task: 2, Attempt: attempt, Path: "stored", Stored: true, Start: new(taskproc.Position)}
	}
	want("before the output", true)
	p.copy(e, output("first"))
	want("while it is copied", false)
	e.complete = true
	p.revoke(e, []string{"other"})
	want("after another was revoked", false)
	p.revoke(e, []string{"first"})
	want("after it was revoked", true)
	p.copy(e, output("second"))
	want("while the next is copied", false)
}
