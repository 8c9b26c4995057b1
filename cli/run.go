package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/internal/client/embedded"
	"github.com/hammr/hammr/internal/daemon/local"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/mr"
)

// newRun runs a bundled program in this process, or with --master on a cluster, as the user's
// own programs run: mr.Exec does all of it, so package mr defines the exit codes. Cobra
// suggests it to users who type the name of a program as a command.
func newRun() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run PROGRAM [generic options] ARGS...",
		Short: "Run a bundled program",
		Long: `Run a bundled program. Its arguments follow Hadoop's order. Without arguments
the programs are listed; "hammr run PROGRAM -h" explains one and the options.`,
		Example: `  hammr run wordcount -D mapreduce.job.reduces=2 IN OUT
  hammr run sort --report report.json 'logs/2026-*' OUT
  hammr run wordcount --ui IN OUT         # prints the address of its web pages
  hammr run --explain wordcount IN OUT    # its tasks, and why it has them`,
		DisableFlagParsing: true, // programs read their arguments as Hadoop's do
		RunE: func(cmd *cobra.Command, args []string) error {
			return exitWith(run(args, cmd.OutOrStdout(), cmd.ErrOrStderr()))
		},
		ValidArgsFunction: completePrograms(cobra.ShellCompDirectiveNoFileComp),
	}
	for _, p := range examples.Programs() {
		cmd.SuggestFor = append(cmd.SuggestFor, p.Name) // typing "hammr wordcount" suggests run
	}
	return cmd
}

// completePrograms completes the first argument to the name of a bundled program, or as
// first says, and the others to files.
func completePrograms(first cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		for _, p := range examples.Programs() {
			names = append(names, p.Name+"\t"+p.Summary)
		}
		return names, first
	}
}

// run finds the program and passes it the other arguments. The error for an unknown name has
// Hadoop's words, because scripts search for them.
func run(args []string, stdout, stderr io.Writer) int {
	name, rest := programName(args)
	if name == "" {
		if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
			listPrograms(stdout)
			return exitDone
		}
		fmt.Fprintln(stderr, "An example program must be given as the first argument.")
		listPrograms(stderr)
		return exitUsage
	}
	if p := bundled(name); p != nil {
		embedded.RegisterPages(func(m *jobmaster.Master, cluster, address string) (string, func(), error) {
			return local.Serve(local.Engine(m, cluster), "hammr run", address, time.Now)
		})
		return mr.Exec(p, rest)
	}
	fmt.Fprintf(stderr, "Unknown program '%s' chosen.\n", name)
	listPrograms(stderr)
	return exitUsage
}

// programName takes the program's name out of args: the first argument that is not an
// option. Only options of hammr that have a value may precede the name. They are listed,
// because their values look like names. A short option before the name counts as the name,
// and is then an unknown program: generic options follow the program, as in Hadoop.
func programName(args []string) (name string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch option := args[i]; {
		// Options of hammr that may precede the program's name.
		case slices.Contains([]string{"--report", "--workers", "--master", "--token-file", "--pool"}, option):
			i++ // its value
		case !strings.HasPrefix(option, "-"):
			return option, slices.Delete(slices.Clone(args), i, i+1)
		case option == "-h" || option == "--help":
			return "", args
		case !strings.HasPrefix(option, "--"):
			return option, nil
		}
	}
	return "", args
}

// listPrograms prints the bundled programs as Hadoop's example driver does.
func listPrograms(w io.Writer) {
	fmt.Fprintln(w, "Valid program names are:")
	for _, p := range examples.Programs() {
		fmt.Fprintf(w, "  %s: %s\n", p.Name, p.Summary)
	}
}
