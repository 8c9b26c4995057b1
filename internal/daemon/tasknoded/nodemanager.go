package tasknoded

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/logs/nodelog"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/web/hadoop"
)

// startedAt is when this program started.
var startedAt = time.Now()

// describeTimeout bounds the answer of the loop to a client of Hadoop's API.
const describeTimeout = 5 * time.Second

// describe describes the tasknode for Hadoop's API.
func (d *Daemon) describe(ctx context.Context) (*hadoop.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	slots, attempts, err := d.tasknode.Running(ctx)
	if err != nil {
		return nil, fmt.Errorf("tasknode does not answer: %w", err)
	}
	n := &hadoop.Node{ID: d.cfg.Advertise, Slots: slots, Started: startedAt, Now: time.Now()}
	if err := d.machineHealth(); err != nil {
		n.Unhealthy = err.Error()
	}
	for _, a := range attempts {
		if id, err := cluster.ParseAttemptID(a.ID); err == nil {
			n.Attempts = append(n.Attempts, hadoop.NodeAttempt{ID: id, User: a.User, MemoryMB: a.MemoryMB, Logs: nodelog.Streams})
		}
	}
	return n, nil
}

// mayRead reports whether a request has the cluster's token, as clients of Hadoop send it too: as the
// password of any user.
func (d *Daemon) mayRead(r *http.Request) bool {
	_, password, _ := r.BasicAuth()
	return rpc.SameToken(password, d.Token) || rpc.Authorized(r, d.Token)
}
