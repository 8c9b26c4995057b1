package minihdfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Health is what the NameNode says of the cluster.
type Health struct {
	State string `json:"FSState"` // "Operational" or "safeMode"
	Live  int    `json:"NumLiveDataNodes"`
	Dead  int    `json:"NumDeadDataNodes"`
	Stale int    `json:"NumStaleDataNodes"`
	// Behind is how many blocks have fewer copies than wanted.
	Behind int `json:"UnderReplicatedBlocks"`
}

// Health asks the NameNode.
func (c *Cluster) Health(ctx context.Context) (Health, error) {
	url := "http://" + c.HTTP() + "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystem*"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return Health{}, fmt.Errorf("minihdfs: %w", err)
	}
	request.Close = true // a pooled connection would outlive the cluster
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Health{}, fmt.Errorf("minihdfs: %w", err)
	}
	defer response.Body.Close()
	var answer struct{ Beans []json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return Health{}, fmt.Errorf("minihdfs: metrics of the NameNode: %w", err)
	}
	var health Health
	for _, bean := range answer.Beans {
		if err := json.Unmarshal(bean, &health); err != nil {
			return Health{}, fmt.Errorf("minihdfs: metrics of the NameNode: %w", err)
		}
	}
	return health, nil
}

// WaitLive returns when the file system takes writes, n DataNodes are live and
// fresh, and none is dead that the cluster means to have running.
func (c *Cluster) WaitLive(ctx context.Context, n int) error {
	return c.poll(ctx, func(ctx context.Context) (bool, error) {
		h, err := c.Health(ctx)
		return err == nil && h.State == "Operational" && h.Live == n && h.Stale == 0 && h.Dead == len(c.data)-n,
			errors.Join(err, fmt.Errorf("minihdfs: waiting for %d live DataNodes, NameNode says %+v", n, h))
	})
}

// WaitReplicated returns when no block has fewer copies than wanted.
func (c *Cluster) WaitReplicated(ctx context.Context) error {
	return c.poll(ctx, func(ctx context.Context) (bool, error) {
		h, err := c.Health(ctx)
		return err == nil && h.State == "Operational" && h.Behind == 0,
			errors.Join(err, fmt.Errorf("minihdfs: waiting for copies, NameNode says %+v", h))
	})
}

// poll repeats check until it says true, a minute has passed, ctx is done, or
// the NameNode ends by itself. The error of the last check says what was missing.
func (c *Cluster) poll(ctx context.Context, check func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	ended := c.nameNode.hasEnded()
	for {
		ready, why := check(ctx)
		if ready {
			return nil
		}
		select {
		case <-ended:
			return c.nameNode.died()
		case <-ctx.Done():
			return errors.Join(ctx.Err(), why)
		case <-tick.C:
		}
	}
}
