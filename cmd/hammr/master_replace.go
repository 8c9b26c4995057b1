package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/wire"
)

// newMasterReplace exits with 0 when the new master has a vote and the old one is removed. Each
// step has no effect if it was done before, so an interrupted command can be repeated.
func (r clusterCommands) newMasterReplace() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "replace OLD NEW=HOST:PORT",
		Short: "Replace a master by one that was started with --join",
		Long: `Replace master OLD by NEW, which was started with --join. NEW is added and gets
a vote when it has caught up. If OLD leads, NEW becomes the leader. Then OLD is
removed, and you can stop it. OLD need not run. Repeat the command if it was
interrupted: it continues where it was.`,
		Example: `  hammr jobmaster --id m4 --join --cluster-id 1763700000000 --dir DIR ...
  hammr master replace m2 m4=host:7070`,
		Args: numberOfArgs("OLD NEW=HOST:PORT", 2),
	}, func(ctx context.Context, q *query) error {
		next, address, ok := strings.Cut(q.args[1], "=")
		if !ok || next == "" || address == "" {
			return usageError{fmt.Errorf("%q: expected NEW=HOST:PORT, the id and the address of the new master", q.args[1])}
		}
		return q.replaceMaster(ctx, q.args[0], next, daemon.WithDefaultPort(address, "7070"))
	})
}

// replaceMaster adds a master, and removes another unless that was done before.
func (q *query) replaceMaster(ctx context.Context, old, next, address string) error {
	if old == next {
		return usageError{fmt.Errorf("master %s cannot replace itself: give the new one another id", old)}
	}
	info, err := q.LeaderInfo(ctx)
	if err != nil {
		return err
	}
	isMember := func(id string) bool {
		return slices.ContainsFunc(info.Masters, func(m *wire.Info_Master) bool { return m.Id == id })
	}
	if !isMember(old) && !isMember(next) {
		return notFound{"master", old}
	}
	err = q.AddMaster(ctx, next, address)
	if err := q.changed(err, "master", apidoc.Change{ID: next, Done: "added"}, "Added master %s", next); err != nil {
		return err
	}
	// The leader may be another one by now.
	if info, err = q.LeaderInfo(ctx); err != nil || !isMember(old) {
		return err
	}
	if info.Leader == old {
		err := q.TransferLeadership(ctx, next)
		if err := q.changed(err, "master", apidoc.Change{ID: next, Done: "handed the lead"}, "Transferred leadership to master %s", next); err != nil {
			return err
		}
	}
	return q.changed(q.RemoveMaster(ctx, old), "master", apidoc.Change{ID: old, Done: "removed"}, "Removed master %s", old)
}
