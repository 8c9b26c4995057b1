package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/mr"
)

// exitError ends the program with a code; whoever made it has told the user
// why.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	var exit exitError
	switch {
	case err == nil:
		return mr.ExitDone
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintln(os.Stderr, "hammr:", err)
	return mr.ExitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "hammr",
		Short:         "A MapReduce engine in Go over HDFS that never throws finished work away",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newRun(), newVersion())
	return root
}
