package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// newMaster returns the verbs for the masters themselves. Most ask the leader to change the Raft
// configuration; restore and recover work on the directory of a master that does not run.
func (r clusterCommands) newMaster() *cobra.Command {
	return group(&cobra.Command{
		Use:     "master",
		Short:   "Inspect and change the masters of a cluster",
		Example: "  hammr master status",
	}, r.newMasterStatus(), r.newMasterAdd(), r.newMasterRemove(), r.newMasterTransfer(), r.newMasterReplace(),
		r.newMasterBackup(), newMasterRestore(), newMasterRecover(), r.newProfile("master", "MASTER", "master profile m1"))
}

// logWriteColumns returns the table cells for the median and the 99th percentile of log
// writes. Both are "-" if the master has not answered or has written nothing lately.
func logWriteColumns(l *apidoc.LogWrites) (median, p99 string) {
	if l == nil || l.Count == 0 {
		return "-", "-"
	}
	ms := func(micros int64) string { return fmt.Sprintf("%.1f ms", float64(micros)/1000) }
	return ms(l.MedianMicros), ms(l.P99Micros)
}

// newMasterStatus asks the leader for the list, then every master on the list for its own
// state, at the same time. It exits with 0 even if some do not answer, because it reports that
// as a state.
func (r clusterCommands) newMasterStatus() *cobra.Command {
	return show(r, &cobra.Command{
		Use:   "status",
		Short: "Show the state of each master",
		Long: `Show the state of each master, as that master reports it; one that does not
answer is shown as unreachable. A non-voter was added and has not caught up. Lag
is the number of committed log entries that it has not applied. Log-Write is the
time of recent writes to its log, fsync included: the median and the 99th
percentile. Format is the newest cluster version that the master supports. The
cluster gets that version when all masters support it.`,
		Example: "  hammr master status --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) (doc apidoc.Masters, err error) {
		info, err := q.info(ctx)
		if err == nil {
			answers := rpc.AskAll(ctx, rpc.Addresses(info), masterTimeout, q.toOne(q.flags))
			doc = apidoc.MastersOf(info, rpc.Infos(answers))
		}
		return doc, err
	}, (*query).writeMasters)
}

// masterTimeout bounds the answer of one master.
const masterTimeout = 2 * time.Second

// info returns the description of the cluster by its leader, or by another master if none leads.
func (q *query) info(ctx context.Context) (*wire.Info, error) {
	inTime, cancel := context.WithTimeout(ctx, masterTimeout)
	defer cancel()
	if info, err := q.LeaderInfo(inTime); err == nil {
		return info, nil
	}
	return q.Info(ctx) // with an error that waiting for a leader would not have changed
}

// toOne returns a function that connects to one master alone: a client of several masters would ask
// the leader.
func (r clusterCommands) toOne(f clusterFlags) func(address string) (clusterClient, error) {
	return func(address string) (clusterClient, error) {
		f := f
		f.masters, f.timeout = address, masterTimeout
		return r.connect(f, func(error) {})
	}
}

// writeMasters prints the cluster version, the term and the leader, then a row for each master.
func (q *query) writeMasters(doc apidoc.Masters) {
	leader := doc.Leader
	if leader == "" {
		leader = "none"
	}
	fmt.Fprintf(q.stdout, "Cluster %s, version %d, term %d, leader %s\n", doc.Cluster, doc.Version, doc.Term, leader)
	t := table{heading: []string{"Id", "State", "Lag", "Address", "Http-Address", "Log-Write", "99%", "Format", "Version"}}
	for _, m := range doc.Masters {
		state, lag := m.State, "-"
		if m.NonVoter && state == "follower" {
			state = "non-voter"
		}
		if m.Lag != nil {
			lag = strconv.FormatUint(*m.Lag, 10)
		}
		median, p99 := logWriteColumns(m.LogWrites)
		format := ""
		if m.FormatVersion > 0 {
			format = strconv.Itoa(m.FormatVersion)
		}
		t.add(m.ID, state, lag, m.Address, m.HTTP, median, p99, format, m.Version)
	}
	t.write(q.stdout)
	for _, m := range doc.Masters {
		if m.HistoryError != "" {
			fmt.Fprintf(q.stdout, "%s cannot write the histories of %d finished jobs: %s\n", m.ID, m.UnwrittenHistories, oneLine(m.HistoryError))
		}
	}
}

// newMasterAdd exits with 0 when the new master has a vote, and with 1 if it does not answer, has
// not caught up in time, or belongs to another cluster.
func (r clusterCommands) newMasterAdd() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "add ID HOST:PORT",
		Short: "Add a master that was started with --join",
		Long: `Add a master that was started with --join. It is a non-voter until it has
caught up with the log, so that it cannot delay the others. If that takes more
than 20 s the command fails, the master stays a non-voter, and the same command
continues.`,
		Example: `  hammr jobmaster --id m4 --join --cluster-id 1763700000000 --dir DIR ...
  hammr master add m4 host:7070`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, q *query) error {
		return q.change(ctx, wire.NewChange("master.add", q.args[0], daemon.WithDefaultPort(q.args[1], "7070")), "Added master %s", q.args[0])
	})
}

func (r clusterCommands) newMasterRemove() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a master from the cluster",
		Example: "  hammr master remove m4",
		Args:    oneArg("the id of a master"),
	}, func(ctx context.Context, q *query) error {
		id := q.args[0]
		return q.changed(q.removeMaster(ctx, id), "master", apidoc.Change{ID: id, Done: "removed"}, "Removed master %s", id)
	})
}

// newMasterTransfer exits when the other master leads. Without an ID the leader chooses the
// most up-to-date one.
func (r clusterCommands) newMasterTransfer() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "transfer [ID]",
		Short:   "Transfer leadership to another master",
		Example: "  hammr master transfer m2",
		Args:    cobra.MaximumNArgs(1),
	}, func(ctx context.Context, q *query) error {
		// The leader chooses if none is named.
		id, target := "", "another master"
		if len(q.args) == 1 {
			id, target = q.args[0], "master "+q.args[0]
		}
		return q.change(ctx, wire.NewChange("master.transfer", id, ""), "Transferred leadership to %s", target)
	})
}
