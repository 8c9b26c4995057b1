package tasknoded

import (
	"context"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// masterCalls are calls to the masters about this tasknode.
type masterCalls struct {
	masters *rpc.Masters
	name    string
}

func (d *Daemon) masterCalls() masterCalls { return masterCalls{d.masters, d.cfg.Name} }

// States of a tasknode that a user has excluded, in the answer of status.
const (
	decommissioning = "DECOMMISSIONING"
	decommissioned  = "DECOMMISSIONED"
)

func (c masterCalls) status(ctx context.Context) (apidoc.Tasknode, error) {
	return docs.Node.From(ctx, c.masters, docs.NodeID{Node: c.name})
}

// drain excludes the tasknode until its next start.
func (c masterCalls) drain(ctx context.Context) error {
	_, err := rpc.Call(ctx, c.masters, (*rpc.Master).Change, &wire.ChangeRequest{Do: "node.drain", Id: c.name, UntilRestart: true})
	return err
}

func (c masterCalls) admit(ctx context.Context) error {
	_, err := rpc.Call(ctx, c.masters, (*rpc.Master).Change, wire.NewChange("node.admit", c.name, ""))
	return err
}
