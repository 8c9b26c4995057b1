// Command man writes a manual page for each command of hammr into a directory:
//
//	SOURCE_DATE_EPOCH=… go run ./deploy/packages/man DIR
//
// The packages contain these pages. Their date is SOURCE_DATE_EPOCH, so that they are the same each
// time. It is a program of its own, so that hammr does not carry the formatter of the pages.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/hammr/hammr/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: man DIR")
		os.Exit(2)
	}
	if err := writeManual(cli.Commands(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// writeManual writes the pages of a command and of all commands below it. The pages depend on the
// commands only, not on the machine or the day.
func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.InitDefaultCompletionCmd() // cobra adds it only when a command runs
	root.DisableAutoGenTag = true   // it contains the day
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
