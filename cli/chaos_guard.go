package cli

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/chaos/guard"
)

// newChaosGuard returns the machine's side of `hammr chaos inject`, which scripts of package
// sshcluster call:
//
//	guard inject KIND   starts run in a session of its own, and ends when the fault is injected
//	guard run KIND      injects the fault, and stays until it is undone
//	guard undo [ID...]  ends faults
//	guard list          lists those that are active
func newChaosGuard() *cobra.Command {
	g, m := new(guard.Guard), new(machineFault)
	cmd := &cobra.Command{Use: "guard COMMAND --dir DIR", Hidden: true, Short: "Inject faults into this machine and end them in time", Args: cobra.MinimumNArgs(1)}
	m.flags(cmd)
	cmd.Flags().StringVar(&g.Dir, "dir", "", "`directory` of the hostfile on this machine")
	required(cmd, "dir")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		out := cmd.OutOrStdout()
		err := errors.New("expected inject KIND, run KIND, undo or list")
		switch {
		case args[0] == "inject" && len(args) == 2:
			var self, line string
			if self, err = ownProgram(); err == nil {
				line, err = guard.Start(self, slices.Concat([]string{"chaos", "guard", "run", args[1], "--dir", g.Dir}, m.words(cmd))...)
				fmt.Fprintln(out, line)
			}
		case args[0] == "run" && len(args) == 2:
			f, wrong := m.fault(args[1])
			if err = wrong; err == nil {
				err = g.Run(ctx, f, m.force, func(r guard.Record) { fmt.Fprintln(out, r) })
			}
		case slices.Contains([]string{"undo", "list"}, args[0]):
			act := g.Undo
			if args[0] == "list" {
				act = func(ctx context.Context, _ ...string) ([]guard.Record, error) { return g.List(ctx) }
			}
			var list []guard.Record
			list, err = act(ctx, args[1:]...)
			for _, r := range list {
				fmt.Fprintln(out, r)
			}
		}
		if err != nil {
			return runError{err}
		}
		return nil
	}
	return cmd
}
