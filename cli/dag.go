package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hammr/hammr/mr"
)

// newDAG asks no daemon and runs no job.
func newDAG() *cobra.Command {
	return group(&cobra.Command{
		Use:     "dag",
		Short:   "Show graphs of programs",
		Example: "  hammr dag show wordcount",
	}, newDAGShow())
}

// dagShow has the flags of `hammr dag show`.
type dagShow struct {
	maps    int // 0 means the program's default, or what its arguments set
	reduces int // below 0: the number that each job sets
	dot     bool
}

// newDAGShow runs a bundled program in this process, and a file as a process of its own, with
// --dag: mr.Main then prints the graph in place of running the first job. It exits with the
// program's code, or with 1 if no graph was printed.
func newDAGShow() *cobra.Command {
	var s dagShow
	cmd := &cobra.Command{
		Use:   "show [--maps N] [--reduces N] [--dot] PROGRAM [generic options] [ARGS...]",
		Short: "Show the stages, groups and bundles of a program",
		Long: `Show the graph of each job of a program: its stages with what they read, its
groups (nodes that share a process) and its bundles (groups that start
together), with the slots that each takes. PROGRAM is the file of your own
program, or the name of a bundled one.

In a job the number of maps, the nodes of stages that read input, follows from
the input; here it is --maps. A graph that depends on arguments is shown for
the defaults. With arguments the program runs up to its first job, shows that
one as it would run, and exits.`,
		Example: `  hammr dag show grep --maps 26
  hammr dag show pagerankdag --dot | dot -Tpng -o pagerank.png
  hammr dag show ./mywords -D mapreduce.job.reduces=4 IN OUT`,
		DisableFlagParsing: true, // programs read their arguments as Hadoop's do
		ValidArgsFunction:  completePrograms(cobra.ShellCompDirectiveDefault),
	}
	flags := cmd.Flags()
	flags.IntVar(&s.maps, "maps", 0, "`number` of nodes of each stage that reads input (default 4)")
	flags.IntVar(&s.reduces, "reduces", -1, "`number` of reduces of each job that has any; -1 is what the job sets")
	flags.BoolVar(&s.dot, "dot", false, "write a picture for Graphviz, one digraph a job")
	flags.BoolP("help", "h", false, "show this text")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		own, rest := ownFlags(flags, args)
		if err := flags.Parse(own); err != nil {
			return err
		}
		if help, _ := flags.GetBool("help"); help {
			return cmd.Help()
		}
		name, rest := programName(rest)
		if name == "" {
			return errors.New("a program is missing")
		}
		return interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return s.show(ctx, cmd, name, args)
		})(cmd, rest)
	}
	return cmd
}

// ownFlags separates the flags of a set from other arguments, up to "--". Cobra cannot parse
// them here: the rest has Hadoop's options with one dash, which pflag would read as
// shorthands. A flag without "=" takes the argument after it, unless it is boolean.
func ownFlags(flags *pflag.FlagSet, args []string) (own, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, hasValue := strings.Cut(args[i], "=")
		f := flags.Lookup(strings.TrimPrefix(name, "--"))
		switch {
		case name == "--":
			return own, append(rest, args[i:]...)
		case name == "-h":
			own = append(own, name)
		// The argument belongs to the program: its name, an option, or another argument.
		case f == nil || !strings.HasPrefix(name, "--"):
			rest = append(rest, args[i])
		case hasValue || f.NoOptDefVal != "" || i+1 == len(args):
			own = append(own, args[i])
		default:
			own = append(own, args[i], args[i+1])
			i++
		}
	}
	return own, rest
}

// programArgs returns the arguments that make a program print its graph: --dag is an option
// of package mr, and the number of reduces is a property.
func (s dagShow) programArgs(rest []string) []string {
	form := "text"
	if s.dot {
		form = "dot"
	}
	if s.maps != 0 {
		form += fmt.Sprintf(",maps=%d", s.maps)
	}
	args := []string{"--dag=" + form}
	if s.reduces >= 0 {
		args = append(args, "-D", fmt.Sprintf("mapreduce.job.reduces=%d", s.reduces))
	}
	return append(args, rest...)
}

// show finds the program: a bundled one by its name, else a file. An unknown name without a
// slash lists the bundled ones.
func (s dagShow) show(ctx context.Context, cmd *cobra.Command, name string, rest []string) error {
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	// A bundled program prints in this process; its exit code is ours.
	if p := bundled(name); p != nil {
		return exitWith(mr.Run(ctx, p, s.programArgs(rest), stdout, stderr))
	}
	if _, err := os.Stat(name); err != nil && !strings.Contains(name, "/") {
		fmt.Fprintf(stderr, "Unknown program '%s' chosen.\n", name)
		listPrograms(stderr)
		return exitError(exitUsage)
	}
	path, err := programFile(name)
	if err != nil {
		return err
	}
	// A graph begins with "Job ", as a picture with a comment. A program that begins with other text does not end
	// its main with mr.Main, or prints before that call.
	seen := &lineDetector{to: stdout, matches: func(n int, line string) bool {
		return n == 0 && (strings.HasPrefix(line, "Job ") || strings.HasPrefix(line, "// Job "))
	}}
	err = runFile(ctx, path, s.programArgs(rest), seen, stderr)
	return endOf(path, "showing a graph", "showed no graph", seen.found, err, stderr)
}
