package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client/console"
	"github.com/hammr/hammr/internal/kit/interrupt"
)

// exitError ends the program with an exit code. No message follows: its cause has been
// printed already, or the code itself is the result, such as the code of a program that
// hammr has run.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitWith returns the error for an exit code, nil for success.
func exitWith(code int) error {
	if code == exitDone {
		return nil
	}
	return exitError(code)
}

// usageError is a mistake of the user that the help of the command does not explain, such as a
// directory that exists or a malformed file: exit code 2, without a hint to --help.
type usageError struct{ error }

// runError is a failure of a running command: exit code 1. All other errors are errors of
// the command line, which cobra returns: exit code 2 and a hint to --help.
type runError struct{ error }

// Unwrap implements errors.Unwrap.
func (e runError) Unwrap() error { return e.error }

// interruptible wraps the function of a command. The first Ctrl-C or SIGTERM cancels its
// context, so that it can remove what it has begun; a second one ends the process at once,
// because AfterFunc has restored the default handling. Whatever error an interrupted command
// returns, the exit code is 130.
func interruptible(f func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := interrupt.Context(context.Background())
		defer stop()
		err := f(ctx, cmd, args)
		var exit exitError
		var usage usageError
		switch {
		case errors.Is(context.Cause(ctx), syscall.EPIPE):
			return exitError(exitFailed)
		case ctx.Err() != nil:
			return exitError(exitInterrupted)
		case err == nil, errors.As(err, &exit), errors.As(err, &usage):
			return err
		}
		return runError{err}
	}
}

// execute runs a command line in this process and returns the exit code. Tests call it.
func execute(args []string, stdout, stderr io.Writer) int {
	return executeOn(newRootFor(args), args, stdout, stderr)
}

// executeOn runs a command line and returns the exit code. An error is printed once, here,
// with the prefix "hammr:"; only errors of the command line add a hint to --help.
//
// A command whose output cannot be written fails, see console.Output.
func executeOn(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	out := console.NewOutput(stdout)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	return out.Finish("hammr", runRoot(root, stderr), stderr)
}

// runRoot runs the command line of the tree, prints its error and returns the exit code.
func runRoot(root *cobra.Command, stderr io.Writer) int {
	cmd, err := root.ExecuteC()
	var exit exitError
	var usage usageError
	var failed runError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "hammr:", err)
		return exitUsage
	case errors.As(err, &failed) && errors.Is(err, syscall.EPIPE): // the reader of a pipe has had enough
		return exitFailed
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, "hammr:", err)
		return exitFailed
	}
	fmt.Fprintf(stderr, "hammr: %v\nSee '%s --help'.\n", err, cmd.CommandPath())
	return exitUsage
}

// newRoot makes the tree of all commands, a new one for each run, since flags keep their
// values.
func newRoot() *cobra.Command { return newRootOf("") }

// newRootFor makes the tree for a command line: of one command, if the line begins with its name. All
// commands have a thousand flags, which would take a tenth of the time of a short command.
func newRootFor(args []string) *cobra.Command {
	if len(args) > 0 && slices.ContainsFunc(topCommands(), func(c topCommand) bool { return c.name == args[0] }) {
		return newRootOf(args[0])
	}
	return newRoot()
}

// newRootOf makes the tree with one command, or with all if its name is empty.
func newRootOf(only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "hammr",
		Short: "A MapReduce engine in Go over HDFS that never throws finished work away",
		Long: `Hammr is a MapReduce engine in Go over HDFS or local files. This binary contains
the bundled programs, a file system shell, the daemons of a cluster, commands to
operate a cluster, and a generator for your own programs.`,
		Example: `  hammr run wordcount README.md /tmp/counts   # run a bundled program
  hammr fs -cat '/tmp/counts/part-*'          # print its output
  hammr new mywords                           # create your own program
  hammr up --dir ~/hammr-cluster             # a whole cluster on this machine`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       ownVersion(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print what 'hammr version' prints")
	for _, c := range topCommands() {
		if only != "" && c.name != only {
			continue
		}
		cmd := c.make()
		cmd.DisableFlagsInUseLine = true // Use lines name the flags that matter; cobra would add [flags]
		root.AddCommand(cmd)
	}
	return root
}

// topCommand makes a command below the root.
type topCommand struct {
	name string
	make func() *cobra.Command
}

// topCommands returns the commands in groups: programs and files, experiments, daemons, and commands
// that ask a cluster.
func topCommands() []topCommand {
	return append([]topCommand{
		{"run", newRun}, {"submit", newSubmit}, {"fs", newFS}, {"new", newNew}, {"conf", newConf}, {"dev", newDev}, {"version", newVersion},
		{"dag", newDAG}, {"sim", newSim}, {"history", newHistory}, {"bench", newBench}, {"chaos", newChaos},
		{"up", newClusterUp}, {"down", newClusterDown}, {"cluster", newCluster}, {"slurm", newSlurm}, {"oar", newOAR},
		{"jobmaster", newJobmaster}, {"tasknode", newTasknode}, {allocationNode, newAllocationNode}, {"ui", newUI},
	}, newClusterCommands().all()...)
}

// group makes a noun of verbs. Without a verb it prints its help. It refuses an unknown verb
// itself, with a suggestion, because cobra checks for unknown commands below the root only.
func group(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			text += "\n\nDid you mean this?\n\t" + strings.Join(near, "\n\t") + "\n"
		}
		return errors.New(text)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.SuggestionsMinimumDistance = 2
	cmd.DisableFlagsInUseLine = true
	for _, c := range children {
		c.DisableFlagsInUseLine = true
	}
	cmd.AddCommand(children...)
	return cmd
}

// oneArg accepts one argument; the error calls it what.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("more than %s: %s", what, strings.Join(args, " "))
		}
		return someArgs(what)(cmd, args)
	}
}

// someArgs accepts one or more arguments; the error calls them what.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
}

// numberOfArgs accepts the numbers of arguments in counts. The arguments differ in meaning,
// so the error says what is expected instead of a number.
func numberOfArgs(expected string, counts ...int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if !slices.Contains(counts, len(args)) {
			return errors.New("expected " + expected)
		}
		return nil
	}
}

// required marks required flags: without them a command ends with exit code 2. An undefined
// flag is a mistake in the source, which the first run of the command shows.
func required(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		_ = cmd.MarkFlagRequired(flag) // fails only for an undefined flag
	}
}

// completes registers the words that complete a flag's argument, in shells that have loaded
// `hammr completion`.
func completes(cmd *cobra.Command, flag string, words []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
