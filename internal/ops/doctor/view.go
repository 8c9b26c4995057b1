package doctor

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Cluster is what Look asks. It is a part of client.Admin.
type Cluster interface {
	// Info describes the cluster as one of its masters knows it.
	Info(ctx context.Context) (*wire.Info, error)
	docs.Caller
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
	rpc.Answer
}

// Look asks a cluster. c finds the leader of the cluster; connect connects to one master alone, without a search for
// the leader.
func Look(ctx context.Context, c Cluster, connect func(address string) (rpc.Asked, error)) *View {
	v := new(View)
	if v.Info, v.Err = c.Info(ctx); v.Err != nil {
		v.Info, v.TasknodesErr = nil, v.Err
		return v
	}
	for i, a := range rpc.AskAll(ctx, rpc.Addresses(v.Info), pageTimeout, connect) {
		m := v.Info.Masters[i]
		v.Masters = append(v.Masters, MasterView{ID: m.Id, Address: m.Address, Answer: a})
	}
	v.Tasknodes, v.TasknodesErr = docs.Nodes.From(ctx, c, docs.No{})
	return v
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
