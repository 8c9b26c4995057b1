package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/wire"
)

func (r clusterCommands) newMaster() *cobra.Command {
	return group(&cobra.Command{
		Use:     "master",
		Short:   "Look at the masters of a cluster, and change them",
		Example: "  hammr master status",
	}, r.newMasterStatus(), r.newMasterAdd(), r.newMasterRemove(), r.newMasterTransfer())
}

// mastersDocument is the masters as JSON.
type mastersDocument struct {
	Cluster string           `json:"cluster"`
	Leader  string           `json:"leader"` // id, "" while there is none
	Term    uint64           `json:"term"`
	Masters []masterDocument `json:"masters"`
}

type masterDocument struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	HTTP    string `json:"http"`
	State   string `json:"state"` // leader, follower, candidate or unreachable

	LogWrites *logWrites `json:"logWrites,omitempty"` // of one that answers
}

// logWrites is how long the latest writes to a master's log took, with fsync.
type logWrites struct {
	Count        uint64 `json:"count"` // since it was started
	MedianMicros int64  `json:"medianMicros"`
	P99Micros    int64  `json:"p99Micros"`
	MaxMicros    int64  `json:"maxMicros"`
}

// table is the columns of a table.
func (l *logWrites) table() (median, p99 string) {
	if l == nil || l.Count == 0 {
		return "-", "-"
	}
	ms := func(micros int64) string { return fmt.Sprintf("%.1f ms", float64(micros)/1000) }
	return ms(l.MedianMicros), ms(l.P99Micros)
}

func (r clusterCommands) newMasterStatus() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "status",
		Short: "Tell which master leads and how the others are",
		Long: `Tell which master leads and how the others are. Each is asked itself; one that
does not answer is unreachable from here. Log-Write is how long a write to its
log takes, with fsync: half of the latest took no longer, and 99% of them.`,
		Example: "  hammr master status --json",
		Args:    cobra.NoArgs,
	}, func(ctx context.Context, q *query) error {
		info, err := q.Info(ctx)
		if err != nil {
			return err
		}
		doc := q.askEach(ctx, info)
		return q.answer(doc, func(w io.Writer) { writeMasters(w, doc) })
	})
}

// masterTime is how long one master may take to tell of itself.
const masterTime = 2 * time.Second

// askEach asks every master how it is. The one that is in the latest term knows
// who leads.
func (q *query) askEach(ctx context.Context, info *wire.Info) mastersDocument {
	answers := make([]*wire.Info, len(info.Masters))
	var all sync.WaitGroup
	for i, m := range info.Masters {
		all.Go(func() { answers[i] = q.askMaster(ctx, m.Address) })
	}
	all.Wait()
	doc := mastersDocument{Cluster: info.ClusterId, Leader: info.Leader, Term: info.Term, Masters: []masterDocument{}}
	for i, m := range info.Masters {
		master := masterDocument{ID: m.Id, Address: m.Address, HTTP: m.Http, State: "unreachable"}
		if a := answers[i]; a != nil {
			if a.Term > doc.Term {
				doc.Term, doc.Leader = a.Term, a.Leader
			}
			if l := a.LogWrites; l != nil {
				master.LogWrites = &logWrites{l.Count, l.MedianMicros, l.P99Micros, l.MaxMicros}
			}
			for _, self := range a.Masters {
				if self.Id == m.Id {
					master.HTTP, master.State = self.Http, self.State
				}
			}
		}
		doc.Masters = append(doc.Masters, master)
	}
	return doc
}

// askMaster is what one master tells, nil when it does not answer.
func (q *query) askMaster(ctx context.Context, address string) *wire.Info {
	ctx, cancel := context.WithTimeout(ctx, masterTime)
	defer cancel()
	f := q.flags
	f.masters, f.timeout = address, masterTime
	c, err := q.connect(f, func(error) {})
	if err != nil {
		return nil
	}
	defer c.Close() // it has answered or not
	info, err := c.Info(ctx)
	if err != nil {
		return nil
	}
	return info
}

func writeMasters(w io.Writer, doc mastersDocument) {
	leader := doc.Leader
	if leader == "" {
		leader = "none"
	}
	fmt.Fprintf(w, "Cluster %s, term %d, leader %s\n", doc.Cluster, doc.Term, leader)
	t := table{heading: []string{"Id", "State", "Address", "Http-Address", "Log-Write", "99%"}}
	for _, m := range doc.Masters {
		median, p99 := m.LogWrites.table()
		t.add(m.ID, m.State, m.Address, m.HTTP, median, p99)
	}
	t.write(w)
}

func (r clusterCommands) newMasterAdd() *cobra.Command {
	return r.command(&cobra.Command{
		Use:   "add ID HOST:PORT",
		Short: "Take in a master that was started with --join",
		Example: `  hammr jobmaster --id m4 --join --cluster-id 1763700000000 --dir DIR ...
  hammr master add m4 host:7070`,
		Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, q *query) error {
		err := q.AddMaster(ctx, q.args[0], withDefaultPort(q.args[1], "7070"))
		if err == nil {
			q.report(change{ID: q.args[0], Done: "added"}, "Added master %s", q.args[0])
		}
		return err
	})
}

func (r clusterCommands) newMasterRemove() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "remove ID",
		Short:   "Remove a master for good",
		Example: "  hammr master remove m4",
		Args:    oneArg("the id of a master"),
	}, func(ctx context.Context, q *query) error {
		err := masterError(q.args[0], q.RemoveMaster(ctx, q.args[0]))
		if err == nil {
			q.report(change{ID: q.args[0], Done: "removed"}, "Removed master %s", q.args[0])
		}
		return err
	})
}

func (r clusterCommands) newMasterTransfer() *cobra.Command {
	return r.command(&cobra.Command{
		Use:     "transfer [ID]",
		Short:   "Hand the lead to another master",
		Example: "  hammr master transfer m2",
		Args:    cobra.MaximumNArgs(1),
	}, func(ctx context.Context, q *query) error {
		id, words := "", "another master"
		if len(q.args) == 1 {
			id, words = q.args[0], "master "+q.args[0]
		}
		err := masterError(id, q.TransferLeadership(ctx, id))
		if err == nil {
			q.report(change{ID: id, Done: "handed the lead"}, "Handed the lead to %s", words)
		}
		return err
	})
}

func masterError(id string, err error) error {
	if errors.Is(err, client.ErrUnknown) {
		return notFound{"master", id}
	}
	return err
}
