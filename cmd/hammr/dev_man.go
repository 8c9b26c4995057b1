package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// newManual asks no daemon. The build of packages calls it (deploy/packages/build.sh).
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a manual page for each command",
		Long: `Write a manual page for each command into DIR. Packages contain these pages.
Their date is that of SOURCE_DATE_EPOCH, so that they are the same each time.`,
		Example: "  hammr dev man /tmp/man && man /tmp/man/hammr-job-list.1",
		Args:    oneArg("a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return runError{err}
			}
			return nil
		},
	}
}

// writeManual writes the pages of a command and of all commands below it. The pages depend on the
// commands only, not on the machine or the day.
func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // it contains the day
	hideComputedDefaults(root)
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "hammr", Manual: "Hammr"}, dir)
}

// hideComputedDefaults removes the defaults of flags whose usage describes the default in words.
// Such a default may be the name of this machine.
func hideComputedDefaults(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if strings.Contains(flag.Usage, "(default ") {
			flag.DefValue = ""
		}
	})
	for _, child := range cmd.Commands() {
		hideComputedDefaults(child)
	}
}
