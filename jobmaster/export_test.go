package jobmaster

import (
	"context"

	"github.com/hammr/hammr/cluster"
)

// Post makes the loop call do.
func (m *Master) Post(do func()) { m.post(do) }

// Request makes the loop propose a command.
func (m *Master) Request(c cluster.Command) { m.post(func() { m.request(c) }) }

// Query runs f in the loop as a query does.
func (m *Master) Query(ctx context.Context, f func()) error {
	_, err := query(ctx, m, func() (struct{}, error) { f(); return struct{}{}, nil })
	return err
}

// CheckInvariants checks the master's state in the loop.
func (m *Master) CheckInvariants(ctx context.Context) error {
	_, err := query(ctx, m, func() (struct{}, error) { return struct{}{}, m.state.CheckInvariants() })
	return err
}
