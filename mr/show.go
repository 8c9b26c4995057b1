package mr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
)

// errShown ends a program with --dag or --explain when it would run its first job.
var errShown = errors.New("the job is shown and not run")

// shownMaps is the number of Nodes of each stage that reads input, if there is no input that
// determines it.
const shownMaps = 4

// show holds the value of --dag, or says that --explain is set.
type show struct {
	explain bool // show how many tasks the first job would have, and why

	dot  bool // for Graphviz
	maps int  // 0: shownMaps, or as the arguments require
}

// parseShow reads the value of --dag: words separated by commas, as in --dag=dot,maps=3. No
// value means text.
func parseShow(value string) (*show, error) {
	s := new(show)
	for word := range strings.SplitSeq(value, ",") {
		name, text, _ := strings.Cut(word, "=")
		switch {
		case word == "dot":
			s.dot = true
		case name == "maps":
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("option --dag: maps=%s: expected a number of at least 1", text)
			}
			s.maps = n
		case word != "" && word != "text":
			return nil, fmt.Errorf("option --dag: %q: expected text, dot, or maps=N", word)
		}
	}
	return s, nil
}

// showAll shows every job of a program without arguments, with default properties and the
// properties that the user has set.
func (d *Driver) showAll() error {
	maps := d.show.maps
	if maps == 0 {
		maps = shownMaps
	}
	graphs, err := d.program.graphs(maps, func(det details) (*conf.Conf, error) { return d.runConf(det, JobRun{}) })
	if err != nil {
		return err
	}
	for i, g := range graphs {
		if i > 0 {
			fmt.Fprintln(d.Stdout)
		}
		heading := fmt.Sprintf("Job %s, fingerprint %s. In a run the number of maps follows from the input; here it is %d.", g.Job, g.Graph.Fingerprint(), maps)
		if err := d.show.write(d.Stdout, heading, g.Graph); err != nil {
			return err
		}
	}
	return nil
}

// showJob shows a job as it would run now, and ends the program: further jobs may depend on
// the job's output.
func (d *Driver) showJob(job string, g dag.Graph) error {
	heading := fmt.Sprintf("Job %s, fingerprint %s, as it would run on these arguments.", job, g.Fingerprint())
	if len(d.program.Jobs) > 1 {
		heading += " Jobs that come after it are not shown."
	}
	if err := d.show.write(d.Stdout, heading, g); err != nil {
		return err
	}
	return errShown
}

// write shows one graph. In the language of Graphviz the heading is a comment.
func (s *show) write(w io.Writer, heading string, g dag.Graph) error {
	if s.dot {
		fmt.Fprintln(w, "//", heading)
		return g.Dot(w)
	}
	fmt.Fprintf(w, "%s\n\n", heading)
	return g.Show(w)
}

// showOrRun runs a program. With --dag it shows the program's jobs, as far as they are known,
// and runs none:
//
//	--dag                 every job, with a number of maps that is made up
//	--dag IN OUT          the first job, with the maps that its input requires
//	--dag=maps=3 IN OUT   refused: the input decides
//	--explain IN OUT      the first job: its tasks, and why it has them
func (d *Driver) showOrRun(ctx context.Context, run func(context.Context, *Driver) error) error {
	switch {
	case d.show == nil:
		return run(ctx, d)
	case len(d.Args) == 0 && !d.show.explain:
		return d.showAll()
	case d.show.maps > 0:
		return fmt.Errorf("%w: --dag=maps=%d with arguments, from which the number of maps follows", ErrUsage, d.show.maps)
	}
	err := run(ctx, d)
	if err == nil {
		return errors.New("it ran no job on these arguments, so there is nothing to show")
	}
	return err
}

// jobGraph returns the graph of a job with this number of Nodes in each stage that reads
// input. It refuses a graph that could not run.
func jobGraph(det details, c *conf.Conf, maps int) (dag.Graph, error) {
	n := reduces(det, c)
	if n == 0 && det.hasReduce && det.needReduce != nil {
		return dag.Graph{}, det.needReduce
	}
	nodes := make(map[string]int)
	for _, reader := range det.readers {
		nodes[reader] = maps
	}
	g := det.shape(c, nodes, n)
	return g, g.Validate()
}

// JobGraph is a job of a program with its graph.
type JobGraph struct {
	Job   string
	Graph dag.Graph
}

// Graphs returns the graphs of the program's jobs, in the order of Jobs and in their default
// configuration. Each stage that reads input has maps Nodes; in a run their number follows
// from the input. If reduces is less than 0, each job has the number of reduces that it asks
// for. A job without a reduce phase has none in any case.
//
// An error wraps ErrUsage if a job cannot run with these numbers.
func (p *Program) Graphs(maps, reduces int) ([]JobGraph, error) {
	if _, err := p.jobs(); err != nil {
		return nil, err
	}
	return p.graphs(maps, func(det details) (*conf.Conf, error) { return det.defaults(reduces) })
}

// graphs returns the graph of each job under the configuration that configure makes.
func (p *Program) graphs(maps int, configure func(details) (*conf.Conf, error)) ([]JobGraph, error) {
	var graphs []JobGraph
	for _, r := range p.Jobs {
		j := r.(anyJob) // Program.jobs has checked it
		det, err := j.details(nil)
		if err != nil {
			return nil, err
		}
		c, err := configure(det)
		if err != nil {
			return nil, err
		}
		g, err := jobGraph(det, c, maps)
		if err != nil {
			return nil, fmt.Errorf("%w: job %s: %w", ErrUsage, j.Name(), err)
		}
		graphs = append(graphs, JobGraph{Job: j.Name(), Graph: g})
	}
	return graphs, nil
}
