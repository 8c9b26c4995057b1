package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/wire"
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
	if !isMember(info, old) && !isMember(info, next) {
		return notFound{"master", old}
	}
	if err := q.change(ctx, wire.NewChange("master.add", next, address), "Added master %s", next); err != nil {
		return err
	}
	return q.removeReplaced(ctx, old, next)
}

// removeReplaced removes a master unless that was done before. If it leads, next leads first. The
// leader may change at any time, so each round asks for it again.
func (q *query) removeReplaced(ctx context.Context, old, next string) error {
	for {
		info, err := q.LeaderInfo(ctx)
		if err != nil || !isMember(info, old) {
			return err
		}
		if info.Leader == old {
			if err := q.change(ctx, wire.NewChange("master.transfer", next, ""), "Transferred leadership to master %s", next); err != nil {
				return err
			}
		}
		if err = q.removeMaster(ctx, old); err != nil {
			if again, infoErr := q.LeaderInfo(ctx); infoErr == nil && again.Leader == old {
				continue // it has become the leader in the meantime
			}
		}
		return q.changed(err, "master", apidoc.Change{ID: old, Done: "removed"}, "Removed master %s", old)
	}
}

// removeMaster removes a master. If the answer is lost with a leader, the call is repeated with
// the next one, which does not know the master any more: that is a success too.
func (q *query) removeMaster(ctx context.Context, id string) error {
	before, err := q.LeaderInfo(ctx)
	if err != nil {
		return err
	}
	if err = client.Change(ctx, q, "master.remove", id, ""); err == nil || !isMember(before, id) {
		return err
	}
	if after, infoErr := q.LeaderInfo(ctx); infoErr == nil && !isMember(after, id) {
		return nil
	}
	return err
}

func isMember(info *wire.Info, id string) bool {
	return slices.ContainsFunc(info.Masters, func(m *wire.Info_Master) bool { return m.Id == id })
}
