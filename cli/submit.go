package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/kit/interrupt"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/mr"
)

// newSubmit asks the leader to accept a job and exits with 0 when it is in the log. It exits
// with 2 if no cluster is named, and otherwise with the code of the program.
func newSubmit() *cobra.Command {
	return &cobra.Command{
		Use:   "submit PROGRAM [generic options] ARGS...",
		Short: "Submit the job of a program and exit",
		Long: `Submit the job of a program to a cluster, print the job's id, and exit: the job
runs without the client. PROGRAM is the file of your own program, or the name of
a bundled one; its arguments are the same as without a cluster. The cluster is
that of --master or of HAMMR_MASTER.`,
		Example: `  hammr submit ./mywords -D mapreduce.job.reduces=4 hdfs://nn/in hdfs://nn/out
  hammr job wait $(hammr submit --master a,b,c wordcount IN OUT)`,
		DisableFlagParsing: true, // programs read their arguments as Hadoop's do
		RunE:               submit,
		ValidArgsFunction:  completePrograms(cobra.ShellCompDirectiveDefault),
	}
}

// submit runs the program with --detach. A bundled program runs in this process. A file runs
// as its own process, and its output shows whether it has submitted a job.
func submit(cmd *cobra.Command, args []string) error {
	name, rest := programName(args)
	// The program only prints something, and submits nothing.
	help := slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"-h", "--help", "--explain"}, arg)
	})
	switch {
	case name == "" && help:
		return cmd.Help()
	case name == "":
		return errors.New("a program is missing")
	case !help && !namesCluster(rest):
		return errNoCluster
	}
	// --detach comes first, so that an argument of the program cannot hide it.
	rest = append([]string{"--detach"}, rest...)
	if p := bundled(name); p != nil {
		return exitWith(mr.Exec(p, rest))
	}
	path, err := programFile(name)
	if err != nil {
		return runError{err}
	}
	return submitFile(path, rest, help, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// namesCluster reports whether the arguments or the environment name a cluster. It looks for
// --master itself, because the program parses its arguments only when it runs. The last
// --master counts, and "local" is no cluster.
func namesCluster(args []string) bool {
	masters := os.Getenv(rpc.MasterVariable)
	// The program's own parser reads the arguments after "--".
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		switch {
		case name == "--master" && found:
			masters = value
		case name == "--master" && i+1 < len(args):
			masters = args[i+1]
		}
	}
	return masters != "" && masters != "local"
}

// bundled returns the bundled program with a name, nil if there is none.
func bundled(name string) *mr.Program {
	for _, p := range examples.Programs() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// submitFile runs a program that submits its job and prints the id, or prints help. The
// program handles Ctrl-C, which the terminal sends to it too, so this process ignores it;
// SIGTERM is passed on.
func submitFile(path string, args []string, help bool, stdout, stderr io.Writer) error {
	interrupts := make(chan os.Signal, 1) // the terminal sends them to the program too
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.Background(), interrupt.Signals()[1:]...) // all but Ctrl-C
	defer stop()
	// Other output of the program, before or after the id, does not matter.
	seen := &lineDetector{to: stdout, matches: func(_ int, line string) bool { return isJobID().MatchString(line) }}
	err := runFile(ctx, path, args, seen, stderr)
	return endOf(path, "handing in a job", "handed in no job", seen.found || help, err, stderr)
}

var isJobID = pattern.New(`^job_[^_]+_\d{4,}$`)
