package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/wire"
)

// Cluster is what Look asks. It is a part of client.Client and client.Admin.
type Cluster interface {
	// Info describes the cluster as one of its masters knows it.
	Info(ctx context.Context) (*wire.Info, error)
	docs.Caller
	Close() error
}

// View is what a cluster has answered at one time. The checks of a cluster work on it.
type View struct {
	// Info is the description by one master; nil if none has answered. Then Err says why.
	Info *wire.Info
	Err  error
	// Masters are the masters of Info, with the answer of each.
	Masters []MasterView
	// Tasknodes are all tasknodes, and TasknodesErr why they are not known.
	Tasknodes    []apidoc.Tasknode
	TasknodesErr error
}

// MasterView is the answer of one master about itself.
type MasterView struct {
	ID, Address string
	Info        *wire.Info // nil if it has not answered
	Err         error      // why it has not answered
}

// Look asks a cluster. c finds the leader of the cluster; connect connects to one master alone, without a search for
// the leader.
func Look(ctx context.Context, c Cluster, connect func(address string) (Cluster, error)) *View {
	v := new(View)
	if v.Info, v.Err = c.Info(ctx); v.Err != nil {
		v.Info, v.TasknodesErr = nil, v.Err
		return v
	}
	v.Masters = make([]MasterView, len(v.Info.Masters))
	var all sync.WaitGroup
	for i, m := range v.Info.Masters {
		all.Go(func() {
			v.Masters[i] = MasterView{ID: m.Id, Address: m.Address}
			v.Masters[i].Info, v.Masters[i].Err = askOne(ctx, m.Address, connect)
		})
	}
	all.Wait()
	v.Tasknodes, v.TasknodesErr = docs.Nodes.From(ctx, c, docs.No{})
	return v
}

// askOne asks one master, at most pageTimeout.
func askOne(ctx context.Context, address string, connect func(string) (Cluster, error)) (*wire.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	c, err := connect(address)
	if err != nil {
		return nil, err
	}
	info, err := c.Info(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	return info, nil
}

// own returns what a master says of itself; nil if it has not answered.
func (m *MasterView) own() *wire.Info_Master {
	for _, other := range m.Info.GetMasters() {
		if other.Id == m.ID {
			return other
		}
	}
	return nil
}

// leader returns the leader by the answer of the latest term, and the term. The id is "" if there is none.
func (v *View) leader() (id string, term uint64) {
	for _, m := range v.Masters {
		if m.Info != nil && (m.Info.Term > term || m.Info.Term == term && id == "") {
			id, term = m.Info.Leader, m.Info.Term
		}
	}
	return id, term
}

// withTasknodes runs a check of the tasknodes, if they are known.
func (t *Target) withTasknodes(check func([]apidoc.Tasknode) []Finding) []Finding {
	switch v := t.View; {
	case v.TasknodesErr != nil:
		return []Finding{skipped("the tasknodes are not known: %s", oneLine(v.TasknodesErr))}
	case len(v.Tasknodes) == 0:
		return []Finding{skipped("the cluster has no tasknodes")}
	}
	return check(t.View.Tasknodes)
}

// isLost reports whether a tasknode is lost or has no connection to the leader.
func isLost(n apidoc.Tasknode) bool { return n.Lost || n.State == "LOST" || n.State == "SILENT" }

// names joins the names of tasknodes, and shortens a long list.
func names(all []apidoc.Tasknode) string {
	const most = 10
	text := ""
	for i, n := range all {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d others", text, len(all)-most)
		case i > 0:
			text += ", "
		}
		text += n.Name
	}
	return text
}
