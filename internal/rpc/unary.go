package rpc

import (
	"context"
	"time"

	"github.com/hammr/hammr/internal/wire"
)

// answerTimeout is how long a master may take to answer before another one is asked. A
// submission waits for the disks of a majority, and AddMaster for the new master to
// catch up. A lost master is noticed sooner, by pings.
const answerTimeout = 30 * time.Second

// Call makes a call with one answer to the leader, as Do does:
//
//	status, err := rpc.Call(ctx, c, (*rpc.Master).GetJob, &wire.JobRequest{JobId: id})
func Call[Q, A any](ctx context.Context, c *Masters, call func(*Master, context.Context, Q) (A, error), question Q) (answer A, err error) {
	err = c.Do(ctx, func(ctx context.Context, m *Master) error {
		ctx, cancel := context.WithTimeout(ctx, min(answerTimeout, c.cfg.Timeout))
		defer cancel()
		answer, err = call(m, ctx, question)
		return err
	})
	return answer, err
}

// Info describes the cluster as one of its masters knows it, whether that leads or not,
// and learns the addresses of the masters from it.
func (c *Masters) Info(ctx context.Context) (*wire.Info, error) {
	info, err := Call(ctx, c, (*Master).GetInfo, new(wire.InfoRequest))
	for _, m := range info.GetMasters() {
		c.Learn(m.Address)
		if m.Id == info.Leader && checkAddress(m.Address) == nil {
			c.setLeader(m.Address)
		}
	}
	return info, err
}
