package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
)

// newNodeAdd is `node remove`, which excludes tasknodes from new tasks, and
// `node add`, which takes them back.
func (r clusterCommands) newNodeAdd(excluded bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NODE...",
		Short: "Give tasks again to tasknodes that were removed",
		Long: `Give tasks again to tasknodes that were removed. A new tasknode needs no such
word: it joins when it is started, see 'hammr tasknode --help'.`,
		Example: "  hammr node add n1",
		Args:    someArgs("the name of a tasknode"),
	}
	done, words := "added", "Added node %s"
	if excluded {
		cmd.Use, cmd.Short = "remove NODE...", "Give no more tasks to tasknodes"
		cmd.Long = `Give no more tasks to tasknodes. What they run goes on, and others read their
output. Such a tasknode is DECOMMISSIONING, and DECOMMISSIONED once nobody needs
anything of it: then it can be stopped without any work being lost.`
		cmd.Example = "  hammr node remove n1"
		done, words = "removed", "Removed node %s"
	}
	return r.command(cmd, func(ctx context.Context, q *query) error {
		return q.forEach(func(name string) error {
			err := q.AdmitTasknode(ctx, name, excluded)
			switch {
			case errors.Is(err, client.ErrUnknown):
				return notFound{"node", name}
			case err == nil:
				q.report(change{ID: name, Done: done}, words, name)
			}
			return err
		})
	})
}
