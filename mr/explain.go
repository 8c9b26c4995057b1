package mr

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// explainJob shows how many tasks a job would have now, and why, and ends the program:
// further jobs may depend on the job's output.
func (d *Driver) explainJob(ctx context.Context, j anyJob, run JobRun, spec *wire.JobSpec, splits []*taskproc.Split) error {
	det, err := j.details(spec.Config)
	if err != nil {
		return err
	}
	c, err := d.runConf(det, run)
	if err != nil {
		return err
	}
	available, err := d.engine.allSlots(ctx, d)
	if err != nil {
		return err
	}
	e := explanation{
		graph: taskproc.ToGraph(spec.Graph), counts: det.counts, inputs: inputFactsOf(det, splits), slots: available,
		cluster: d.engine.cluster.remote(), reduces: d.reducesSetBy(c), minSplit: c.Bytes(conf.SplitMinSize),
	}
	where := "in this process"
	if e.cluster {
		where = "on the cluster"
	}
	fmt.Fprintf(d.Stdout, "Job %s, as it would run on these arguments %s: map slots %d, reduce slots %d.\n", j.Name(), where, available.maps, available.reduces)
	if len(d.program.Jobs) > 1 {
		fmt.Fprintln(d.Stdout, "Jobs that come after it are not shown.")
	}
	if err := e.write(d.Stdout); err != nil {
		return err
	}
	return errShown
}

// setBy says where the number of reduces is set.
type setBy int

const (
	setByDefault setBy = iota // mapreduce.job.reduces is not set
	setByAuto                 // hammr.job.reduces.auto takes it from the slots
	setByProgram              // Job.Reduces, Graph.Set or JobRun.Set
	setByUser                 // -D or a configuration file
)

// reducesSetBy returns where the number of reduces is set. c is the configuration of the
// run.
func (d *Driver) reducesSetBy(c *conf.Conf) setBy {
	switch {
	case d.conf.IsSet(conf.JobReduces):
		return setByUser
	case c.IsSet(conf.JobReduces):
		return setByProgram
	case c.Bool(conf.ReducesAuto):
		return setByAuto
	}
	return setByDefault
}

// inputFacts sums up the splits of a stage that reads input.
type inputFacts struct {
	files    int   // 0 for an input without files
	bytes    int64 // of all files
	largest  int64 // bytes of the largest split
	splits   int
	whole    int // splits that can only be read from their start
	combined int // splits of several files
}

// inputFactsOf returns the facts of each stage that reads input, by name.
func inputFactsOf(det details, all []*taskproc.Split) map[string]*inputFacts {
	facts := make(map[string]*inputFacts)
	for _, reader := range det.readers {
		facts[reader] = new(inputFacts)
	}
	seen := make(map[int32]bool) // files by number
	for _, s := range all {
		f := facts[det.readers[s.Input]]
		f.splits++
		if s.Unsplittable {
			f.whole++
		}
		if len(s.Parts) > 1 {
			f.combined++
		}
		var bytes int64
		for _, p := range s.Parts {
			bytes += p.Length
			if p.Path != "" && !seen[p.Ordinal] {
				seen[p.Ordinal] = true
				f.files++
			}
		}
		f.bytes += bytes
		f.largest = max(f.largest, bytes)
	}
	return facts
}

// explanation has what decides the number of tasks of a job, and how many run at once.
type explanation struct {
	graph    dag.Graph
	counts   map[string]nodeCount   // by stage
	inputs   map[string]*inputFacts // by stage
	slots    slots
	cluster  bool
	reduces  setBy
	minSplit int64 // mapreduce.input.fileinputformat.split.minsize, in bytes
}

// write writes the table of stages, and a remedy for each stage that uses one core.
func (e *explanation) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nSTAGE\tSLOTS\tTASKS\tAT ONCE\tWHY SO MANY TASKS")
	for i, s := range e.graph.Stages {
		fmt.Fprintf(table, "%s\t%v\t%d\t%d\t%s\n", s.Name, e.graph.SlotsOf(s.Name), s.Nodes, e.atOnce(i), e.why(s))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i, s := range e.graph.Stages {
		if e.atOnce(i) > 1 || s.Nodes == 0 {
			continue
		}
		headline := "uses one core"
		if e.atOnce(i) == 0 {
			headline = "has no slot"
		}
		cause, remedy := e.oneCore(s)
		if _, err := fmt.Fprintf(w, "\nStage %s %s: %s.\n  %s.\n", s.Name, headline, cause, remedy); err != nil {
			return err
		}
	}
	return nil
}

// atOnce returns how many Nodes of a stage can run at once, if no other job runs. Nodes that
// are piped together take a slot each.
func (e *explanation) atOnce(stage int) int {
	joined := e.pipedWith(stage)
	taken := make(map[dag.SlotKind]int)
	for _, s := range e.graph.Stages {
		if joined[s.Name] {
			taken[e.graph.SlotsOf(s.Name)]++
		}
	}
	most := e.graph.Stages[stage].Nodes
	for kind, n := range taken {
		most = min(most, e.slotsOf(kind)/n)
	}
	return most
}

// slotsOf returns the number of slots of a kind.
func (e *explanation) slotsOf(kind dag.SlotKind) int {
	if kind == dag.SlotMap {
		return e.slots.maps
	}
	return e.slots.reduces
}

// pipedWith returns the names of the stages that share processes with a stage, and its own.
// An edge leads to a later stage, but pipes may join at either end, so it repeats until
// nothing is added.
func (e *explanation) pipedWith(stage int) map[string]bool {
	joined := map[string]bool{e.graph.Stages[stage].Name: true}
	for before := 0; before < len(joined); {
		before = len(joined)
		for _, edge := range e.graph.Edges {
			if edge.Channel == dag.ChannelSHM && (joined[edge.From] || joined[edge.To]) {
				joined[edge.From], joined[edge.To] = true, true
			}
		}
	}
	return joined
}
