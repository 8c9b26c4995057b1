package task

import (
	"testing"
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
		"some outputs are copied":          {[]copyEdge{{have: 3, pending: 2}}, true},
		"all outputs are known":            {[]copyEdge{{have: 3, pending: 2, complete: true}}, false},
		"one of two edges is complete":     {[]copyEdge{{complete: true}, {have: 1}}, true},
		"both edges are complete":          {[]copyEdge{{complete: true}, {pending: 1, complete: true}}, false},
		"a known writer has not written":   {[]copyEdge{{Channel: peers(1, 2, 3), have: 1, pending: 1}}, true},
		"all known writers have written":   {[]copyEdge{{Channel: peers(1, 2, 3), have: 1, pending: 2}}, false},
		"they have, and others still work": {[]copyEdge{{Channel: peers(4), pending: 1}}, false},
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
