package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
)

// newNodeAdmit is `node remove`, which excludes tasknodes from new tasks, and
// `node add`, which takes them back.
func (r remotes) newNodeAdmit(excluded bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NODE...",
		Short: "Give tasks again to tasknodes that were removed",
		Long: `Give tasks again to tasknodes that were removed. A new tasknode needs no such
word: it joins when it is started, see 'hammr tasknode --help'.`,
		Example: "  hammr node add n1",
		Args:    some("the name of a tasknode"),
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
	return r.asks(cmd, func(ctx context.Context, q *query) error {
		return q.each(func(name string) error {
			err := q.AdmitNode(ctx, name, excluded)
			switch {
			case errors.Is(err, client.ErrUnknown):
				return notFound{"node", name}
			case err == nil:
				q.did(deed{ID: name, Done: done}, words, name)
			}
			return err
		})
	})
}
