package dag

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

const (
	// MaxNodes is the greatest number of Nodes of a stage; it fits 32 bits in messages.
	MaxNodes = math.MaxInt32

	// maxNameBytes leaves space for numbers and suffixes in file names, which most file
	// systems limit to 255 bytes.
	maxNameBytes = 100
)

// Validate reports every error in the graph at once, each with its stage, edge or bundle.
// nil means that a cluster that is large enough can run the graph (see CheckFits).
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
	g.checkInputs(fault)
	g.checkCombines(fault)
	g.checkCycles(fault)
	return errors.Join(faults...)
}

type errorFunc func(format string, args ...any)

func (g Graph) checkStages(fault errorFunc) {
	seen := make(map[string]bool, len(g.Stages))
	for i, s := range g.Stages {
		switch {
		case s.Name == "":
			fault("stage %d: no name", i)
		case seen[s.Name]:
			fault("stage %q: name used twice", s.Name)
		case !usableInFileNames(s.Name):
			fault("stage %q: name not usable in names of files; 1 to %d letters of ASCII, digits, dots, hyphens and underscores are, a letter or digit first",
				s.Name, maxNameBytes)
		}
		seen[s.Name] = true
		if s.Nodes < 0 || s.Nodes > MaxNodes {
			fault("stage %q: %d nodes instead of 0 to %d", s.Name, s.Nodes, MaxNodes)
		}
		if s.Slots.String() == "unknown" {
			fault("stage %q: unknown kind of slots %d", s.Name, int(s.Slots))
		}
	}
}

// usableInFileNames reports whether a name can be part of a file name on every file system
// without hiding the file: inputs do not include files whose names begin with _ or a dot.
func usableInFileNames(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return len(name) <= maxNameBytes && strings.Trim(name, letters+"._-") == "" && strings.Contains(letters, name[:1])
}

func (g Graph) checkEdges(fault errorFunc) {
	type ends struct{ from, to string }
	seen := make(map[ends]bool, len(g.Edges))
	places := g.stageIndexes()
	for _, e := range g.Edges {
		for _, text := range e.kindProblems() {
			fault("edge %v: %s", e, text)
		}
		if seen[ends{e.From, e.To}] {
			fault("edge %v: stages joined twice", e)
		}
		seen[ends{e.From, e.To}] = true
		g.checkEnds(e, places, fault)
	}
}

func (g Graph) checkEnds(e Edge, places map[string]int, fault errorFunc) {
	from, known := places[e.From]
	if !known {
		fault("edge %v: no stage %q", e, e.From)
	}
	to, also := places[e.To]
	if !also {
		fault("edge %v: no stage %q", e, e.To)
	}
	if !known || !also {
		return
	}
	if text := e.countProblem(g.Stages[from].Nodes, g.Stages[to].Nodes); text != "" {
		fault("edge %v: %s", e, text)
	}
}

// kindProblems returns what is invalid in the kinds of the edge.
func (e Edge) kindProblems() []string {
	var parts []string
	if e.Channel.String() == "unknown" {
		parts = append(parts, fmt.Sprintf("unknown channel %d", int(e.Channel)))
	}
	if e.Connection.String() == "unknown" {
		parts = append(parts, fmt.Sprintf("unknown connection %d", int(e.Connection)))
	}
	if e.Stored && e.Channel != ChannelFile {
		parts = append(parts, fmt.Sprintf("a %v channel that is stored; only files are", e.Channel))
	}
	return parts
}

// countProblem returns why the edge cannot join these numbers of Nodes; "" if it can.
func (e Edge) countProblem(writers, readers int) string {
	switch {
	case e.Connection == OneToOne && writers != readers:
		return fmt.Sprintf("one-to-one between %d and %d nodes", writers, readers)
	case e.Connection == Gather && readers != 1:
		return fmt.Sprintf("gather into %d nodes instead of 1", readers)
	}
	return ""
}

func (e Edge) String() string { return fmt.Sprintf("%q -> %q", e.From, e.To) }
