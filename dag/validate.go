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
	var errs []error
	report := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("dag: "+format, args...))
	}
	if len(g.Stages) == 0 {
		report("graph without stages")
	}
	g.checkStages(report)
	g.checkEdges(report)
	g.checkFiles(report)
	g.checkInputs(report)
	g.checkCombines(report)
	g.checkCycles(report)
	return errors.Join(errs...)
}

// errorFunc reports one error of a graph; its text gets the prefix of the package.
type errorFunc func(format string, args ...any)

// checkStages checks each stage, without regard to the others. Its name becomes part of file names and
// addresses.
func (g Graph) checkStages(report errorFunc) {
	seen := make(map[string]bool, len(g.Stages))
	for i, s := range g.Stages {
		switch {
		case s.Name == "":
			report("stage %d: no name", i)
		case seen[s.Name]:
			report("stage %q: name used twice", s.Name)
		case !usableInFileNames(s.Name):
			report("stage %q: name not usable in names of files; 1 to %d letters of ASCII, digits, dots, hyphens and underscores are, a letter or digit first",
				s.Name, maxNameBytes)
		}
		seen[s.Name] = true
		if s.Nodes < 0 || s.Nodes > MaxNodes {
			report("stage %q: %d nodes instead of 0 to %d", s.Name, s.Nodes, MaxNodes)
		}
		if s.Slots.String() == "unknown" {
			report("stage %q: unknown kind of slots %d", s.Name, int(s.Slots))
		}
	}
}

// usableInFileNames reports whether a name can be part of a file name on every file system
// without hiding the file: inputs do not include files whose names begin with _ or a dot.
func usableInFileNames(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return len(name) <= maxNameBytes && strings.Trim(name, letters+"._-") == "" && strings.Contains(letters, name[:1])
}

// checkEdges checks each edge by itself, and that two stages have at most one.
func (g Graph) checkEdges(report errorFunc) {
	type ends struct{ from, to string }
	seen := make(map[ends]bool, len(g.Edges))
	places := g.stageIndexes()
	for _, e := range g.Edges {
		for _, text := range e.kindProblems() {
			report("edge %v: %s", e, text)
		}
		if seen[ends{e.From, e.To}] {
			report("edge %v: stages joined twice", e)
		}
		seen[ends{e.From, e.To}] = true
		from, known := places[e.From]
		if !known {
			report("edge %v: no stage %q", e, e.From)
		}
		to, also := places[e.To]
		if !also {
			report("edge %v: no stage %q", e, e.To)
		}
		if !known || !also {
			continue
		}
		if text := e.countProblem(g.Stages[from].Nodes, g.Stages[to].Nodes); text != "" {
			report("edge %v: %s", e, text)
		}
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

// countProblem returns the reason why the edge cannot join these numbers of Nodes; "" if it
// can.
func (e Edge) countProblem(writers, readers int) string {
	switch {
	case e.Connection == OneToOne && writers != readers:
		return fmt.Sprintf("one-to-one between %d and %d nodes", writers, readers)
	case e.Connection == Gather && readers != 1:
		return fmt.Sprintf("gather into %d nodes instead of 1", readers)
	}
	return ""
}

// String names the edge in errors and in the text from which the fingerprint is computed.
func (e Edge) String() string { return fmt.Sprintf("%q -> %q", e.From, e.To) }

// input is one of the names under which a stage's program reads.
type input struct{ stage, name string }

// checkInputs compares the edges into each stage with the inputs of its program.
func (g Graph) checkInputs(report errorFunc) {
	writers := g.checkWriters(report)
	listed := make(map[input]bool)
	for _, s := range g.Stages {
		for _, name := range s.Inputs {
			in := input{s.Name, name}
			_, written := writers[in]
			switch {
			case listed[in]:
				report("stage %q: input %q listed twice", s.Name, name)
			case !written:
				report("stage %q: nothing leads into its input %q", s.Name, name)
			}
			listed[in] = true
		}
	}
	places := g.stageIndexes()
	for _, e := range g.Edges {
		if to, known := places[e.To]; known && len(g.Stages[to].Inputs) > 0 && !listed[input{e.To, e.InputName()}] {
			report("edge %v: %q has no input %q; it has %q", e, e.To, e.InputName(), g.Stages[to].Inputs)
		}
	}
}

// checkWriters returns the stage that writes to each input. It reports an error if two
// stages write to one input.
func (g Graph) checkWriters(report errorFunc) map[input]string {
	writers := make(map[input]string, len(g.Edges))
	for _, e := range g.Edges {
		in := input{e.To, e.InputName()}
		if other, taken := writers[in]; taken && other != e.From {
			report("edge %v: %q writes to input %q of %q already", e, other, in.name, e.To)
			continue
		}
		writers[in] = e.From
	}
	return writers
}

// checkCombines refuses graphs in which the output of a PerMachine combine cannot be used.
// The combining Nodes run on different machines, and the records of each depend on where the
// writers happened to run.
func (g Graph) checkCombines(report errorFunc) {
	combines := make(map[string]bool)
	read := make(map[string]bool)
	for _, e := range g.Edges {
		read[e.From] = true
		if e.Connection != PerMachine {
			continue
		}
		combines[e.To] = true
		if e.Channel != ChannelFile {
			report("edge %v: per-machine over %v; only files exist once it is known where writers ran", e, e.Channel)
		}
	}
	for _, e := range g.Edges {
		if combines[e.To] && e.Connection != PerMachine && e.Connection != Broadcast {
			report("edge %v: %v into a stage that combines per machine; a machine without writers would lose it", e, e.Connection)
		}
		if combines[e.From] && (e.Connection == OneToOne || e.Connection == PerMachine) {
			report("edge %v: %v after a combine per machine; only all-to-all, broadcast and gather read every machine's part", e, e.Connection)
		}
		if e.Channel == ChannelSHM && (combines[e.From] || combines[e.To]) {
			report("edge %v: shared memory at a stage that combines per machine; its nodes cannot share a process", e)
		}
	}
	for _, s := range g.Stages {
		if combines[s.Name] && !read[s.Name] {
			report("stage %q: no stage reads what it combines per machine; as output it would depend on where tasks ran", s.Name)
		}
	}
}
