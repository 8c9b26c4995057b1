package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/mr"
)

func newDAG() *cobra.Command {
	return group(&cobra.Command{
		Use:     "dag",
		Short:   "Graphs of programs",
		Example: "  hammr dag show wordcount",
	}, newDAGShow())
}

// dagShow is what `hammr dag show` is asked for.
type dagShow struct {
	maps    int
	reduces int // below 0: as many as each job asks for
	dot     bool
}

func newDAGShow() *cobra.Command {
	var s dagShow
	cmd := &cobra.Command{
		Use:   "show PROGRAM [--maps N] [--reduces N] [--dot]",
		Short: "Show the stages, groups and bundles of a bundled program",
		Long: `Show the graph of each job of a bundled program: its stages with what they read,
its groups (nodes that share a process) and its bundles (groups that start
together), each with the slots that one of them takes. When a job runs, the
number of nodes of stages that read input, its maps, follows from that input;
here it is a number that you choose. A graph whose shape follows from a
configuration is shown as it is by default.`,
		Example: `  hammr dag show grep --maps 26
  hammr dag show pagerankdag --reduces 6
  hammr dag show wordcount --dot | dot -Tpng -o wordcount.png`,
		Args: one("a program"),
		RunE: work(func(_ context.Context, cmd *cobra.Command, args []string) error {
			return s.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0])
		}),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completions(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().IntVar(&s.maps, "maps", 4, "`number` of nodes of each stage that reads input")
	cmd.Flags().IntVar(&s.reduces, "reduces", -1, "`number` of reduces of each job that has any; -1: what the job asks for")
	cmd.Flags().BoolVar(&s.dot, "dot", false, "write a picture for Graphviz, one digraph a job")
	return cmd
}

func (s dagShow) show(stdout, stderr io.Writer, name string) error {
	programs := examples.Programs()
	i := slices.IndexFunc(programs, func(p *mr.Program) bool { return p.Name == name })
	if i < 0 {
		fmt.Fprintf(stderr, "Unknown program '%s' chosen.\n", name)
		listPrograms(stderr)
		return exitError(exitUsage)
	}
	graphs, err := programs[i].Graphs(s.maps, s.reduces)
	if errors.Is(err, mr.ErrUsage) {
		fmt.Fprintln(stderr, "hammr:", err)
		return exitError(exitUsage)
	}
	if err != nil {
		return err
	}
	for n, g := range graphs {
		if n > 0 {
			fmt.Fprintln(stdout)
		}
		if err := s.write(stdout, g); err != nil {
			return err
		}
	}
	return nil
}

// write shows one job. Its heading is a comment in the language of Graphviz.
func (s dagShow) write(w io.Writer, g mr.JobGraph) error {
	heading := fmt.Sprintf("Job %s, fingerprint %s. In a run the number of maps follows from the input; here it is %d.",
		g.Job, g.Graph.Fingerprint(), s.maps)
	if s.dot {
		fmt.Fprintln(w, "//", heading)
		return g.Graph.Dot(w)
	}
	fmt.Fprintf(w, "%s\n\n", heading)
	return g.Graph.Show(w)
}
