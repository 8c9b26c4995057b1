package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/examples"
	"github.com/hammr/hammr/mr"
)

func newRun() *cobra.Command {
	return &cobra.Command{
		Use:   "run PROGRAM [generic options] ARGS...",
		Short: "Run a bundled program",
		Long: `Run a bundled program. Its arguments follow Hadoop's order:

  hammr run wordcount [-D property=value] [-fs URI] IN [IN...] OUT

"hammr run" alone lists the programs, "hammr run PROGRAM -h" explains one.`,
		DisableFlagParsing: true, // programs read their arguments as Hadoop's do
		RunE: func(_ *cobra.Command, args []string) error {
			if code := run(args); code != mr.ExitDone {
				return exitError(code)
			}
			return nil
		},
	}
}

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "An example program must be given as the first argument.")
		listPrograms(os.Stderr)
		return mr.ExitUsage
	}
	if args[0] == "-h" || args[0] == "--help" {
		listPrograms(os.Stdout)
		return mr.ExitDone
	}
	for _, p := range examples.Programs() {
		if p.Name == args[0] {
			return mr.Exec(p, args[1:])
		}
	}
	fmt.Fprintf(os.Stderr, "Unknown program '%s' chosen.\n", args[0])
	listPrograms(os.Stderr)
	return mr.ExitUsage
}

func listPrograms(w io.Writer) {
	fmt.Fprintln(w, "Valid program names are:")
	for _, p := range examples.Programs() {
		fmt.Fprintf(w, "  %s: %s\n", p.Name, p.Summary)
	}
}
