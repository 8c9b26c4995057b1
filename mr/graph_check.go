package mr

import "errors"

// check returns every error in how the graph was built.
func (g *Graph) check() error {
	if len(g.stages) == 0 {
		g.errorf(g.declaredAt, "a graph without stages")
	}
	for _, s := range g.stages {
		if !s.read && !s.writes {
			s.errorf("no stage reads what it emits: Write it, with NullOutput to drop it")
		}
	}
	for _, l := range g.links {
		g.checkCounts(l)
	}
	for _, side := range g.sides {
		side.check()
	}
	if len(g.errs) == 0 {
		g.checkShape()
	}
	return errors.Join(g.errs...)
}

// someNodes stands for the numbers of Nodes that only a run knows.
const someNodes = 2

// checkShape asks package dag to validate the graph, once the checks of this package have
// passed.
func (g *Graph) checkShape() {
	sources := make(map[string]int)
	for _, s := range g.stages {
		sources[s.name] = someNodes
	}
	if err := g.shape(sources, someNodes).Validate(); err != nil {
		g.errorf(g.declaredAt, "%w", err)
	}
}
