package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
)

// newNodeAdd makes `node remove`, which excludes tasknodes from new tasks, and `node
// add`, which reverts that.
func (r clusterCommands) newNodeAdd(excluded bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NODE...",
		Short: "Give tasks to tasknodes again that were removed",
		Long: `Give tasks to tasknodes again that were removed. A new tasknode does not need
this: it joins when it starts, see 'hammr tasknode --help'.`,
		Example: "  hammr node add n1",
		Args:    someArgs("the name of a tasknode"),
	}
	done, format := "added", "Added node %s"
	if excluded {
		cmd.Use, cmd.Short = "remove NODE...", "Give no more tasks to tasknodes"
		cmd.Long = `Give no more tasks to tasknodes. Their running tasks continue, and others read
their output. Such a tasknode is DECOMMISSIONING, and DECOMMISSIONED once
nothing of it is needed: then it can be stopped without loss of work.`
		cmd.Example = "  hammr node remove n1"
		done, format = "removed", "Removed node %s"
	}
	return r.command(cmd, func(ctx context.Context, q *query) error {
		return q.forEach(func(name string) error {
			err := knownAs("node", name, q.AdmitTasknode(ctx, name, excluded))
			if err == nil {
				q.report(apidoc.Change{ID: name, Done: done}, format, name)
			}
			return err
		})
	})
}
