package dag

import (
	"errors"
	"fmt"
	"strings"
)

// Validate reports every fault of the graph at once, each with the stage or
// edge it is at; nil means that the graph can be run.
func (g Graph) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("dag: "+format, args...))
	}
	if len(g.Stages) == 0 {
		fault("graph without stages")
	}
	g.checkStages(fault)
	g.checkEdges(fault)
	if cycle := g.cycle(); cycle != nil {
		fault("cycle %s", strings.Join(cycle, " -> "))
	}
	return errors.Join(faults...)
}

type faultFunc func(format string, args ...any)

func (g Graph) checkStages(fault faultFunc) {
	seen := make(map[string]bool, len(g.Stages))
	for i, s := range g.Stages {
		switch {
		case s.Name == "":
			fault("stage %d: no name", i)
		case seen[s.Name]:
			fault("stage %q: name used twice", s.Name)
		}
		seen[s.Name] = true
		if s.Nodes < 0 {
			fault("stage %q: %d nodes", s.Name, s.Nodes)
		}
		if s.Slots.String() == "unknown" {
			fault("stage %q: unknown kind of slots %d", s.Name, int(s.Slots))
		}
	}
}

func (g Graph) checkEdges(fault faultFunc) {
	type ends struct{ from, to string }
	seen := make(map[ends]bool, len(g.Edges))
	for _, e := range g.Edges {
		if e.Channel.String() == "unknown" {
			fault("edge %v: unknown channel %d", e, int(e.Channel))
		}
		if e.Connection.String() == "unknown" {
			fault("edge %v: unknown connection %d", e, int(e.Connection))
		}
		if seen[ends{e.From, e.To}] {
			fault("edge %v: stages joined twice", e)
		}
		seen[ends{e.From, e.To}] = true
		g.checkEnds(e, fault)
	}
}

func (g Graph) checkEnds(e Edge, fault faultFunc) {
	from, to := g.StageIndex(e.From), g.StageIndex(e.To)
	if from < 0 {
		fault("edge %v: no stage %q", e, e.From)
	}
	if to < 0 {
		fault("edge %v: no stage %q", e, e.To)
	}
	if from < 0 || to < 0 {
		return
	}
	writers, readers := g.Stages[from].Nodes, g.Stages[to].Nodes
	if e.Connection == OneToOne && writers != readers {
		fault("edge %v: one-to-one between %d and %d nodes", e, writers, readers)
	}
	if e.Connection == Gather && readers != 1 {
		fault("edge %v: gather into %d nodes instead of 1", e, readers)
	}
}

// cycle is a walk along edges that ends where it began, nil when there is none.
func (g Graph) cycle() []string {
	const (
		unseen = iota
		onPath
		done
	)
	mark := make(map[string]int, len(g.Stages))
	var path []string
	var visit func(name string) []string
	visit = func(name string) []string {
		mark[name] = onPath
		path = append(path, name)
		for _, e := range g.Edges {
			if e.From != name {
				continue
			}
			if mark[e.To] == onPath {
				return closedWalk(path, e.To)
			}
			if mark[e.To] == unseen {
				if c := visit(e.To); c != nil {
					return c
				}
			}
		}
		mark[name] = done
		path = path[:len(path)-1]
		return nil
	}
	for _, s := range g.Stages {
		if mark[s.Name] == unseen {
			if c := visit(s.Name); c != nil {
				return c
			}
		}
	}
	return nil
}

// closedWalk is the part of path from name on, and name again.
func closedWalk(path []string, name string) []string {
	for i, p := range path {
		if p == name {
			return append(append([]string(nil), path[i:]...), name)
		}
	}
	return nil
}

func (e Edge) String() string { return fmt.Sprintf("%q -> %q", e.From, e.To) }
