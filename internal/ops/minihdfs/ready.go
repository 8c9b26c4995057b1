package minihdfs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Health is the state of the cluster according to the NameNode. A DataNode is stale after 3
// s without a heartbeat, and dead after 12 s.
type Health struct {
	State string `json:"FSState"` // "Operational" or "safeMode"
	Live  int    `json:"NumLiveDataNodes"`
	Dead  int    `json:"NumDeadDataNodes"`
	Stale int    `json:"NumStaleDataNodes"`
	// Usable is the number of live DataNodes that have reported their storage. Others get no
	// blocks.
	Usable int `json:"-"`
	// UnderReplicated is the number of blocks with too few replicas.
	UnderReplicated int `json:"UnderReplicatedBlocks"`
}

// Health asks the NameNode. It combines two beans of the NameNode's JMX page.
func (c *Cluster) Health(ctx context.Context) (Health, error) {
	var health Health
	if err := metrics(ctx, c.HTTP(), "service=NameNode,name=FSNamesystemState", &health); err != nil {
		return Health{}, err
	}
	var info struct{ LiveNodes string } // JSON within JSON
	if err := metrics(ctx, c.HTTP(), "service=NameNode,name=NameNodeInfo", &info); err != nil {
		return Health{}, err
	}
	var nodes map[string]struct{ Capacity int64 }
	if err := json.Unmarshal([]byte(info.LiveNodes), &nodes); err != nil {
		return Health{}, fmt.Errorf("minihdfs: live nodes of the NameNode: %w", err)
	}
	for _, n := range nodes {
		if n.Capacity > 0 {
			health.Usable++
		}
	}
	return health, nil
}

// metrics reads one bean of a daemon's JMX page and decodes its JSON. It fails as long as the
// daemon has not registered the bean.
func metrics(ctx context.Context, address, bean string, into any) error {
	url := "http://" + address + "/jmx?qry=Hadoop:" + bean
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	request.Close = true // an idle connection would outlive the cluster
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	defer response.Body.Close()
	var answer struct{ Beans []json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return fmt.Errorf("minihdfs: metrics of %s: %w", address, err)
	}
	if len(answer.Beans) != 1 {
		return fmt.Errorf("minihdfs: %s has no metrics %s yet", address, bean)
	}
	if err := json.Unmarshal(answer.Beans[0], into); err != nil {
		return fmt.Errorf("minihdfs: metrics of %s: %w", address, err)
	}
	return nil
}

// checkRegistered reports why this process of the DataNode has received no answer to its
// first heartbeat. The NameNode alone cannot distinguish it from the previous process.
func (d *DataNode) checkRegistered(ctx context.Context) error {
	var info struct{ BPServiceActorInfo string } // JSON within JSON
	err := metrics(ctx, d.host+":9864", "service=DataNode,name=DataNodeInfo", &info)
	if err != nil {
		return err
	}
	var links []struct{ ActorState, NamenodeHaState string }
	if err := json.Unmarshal([]byte(info.BPServiceActorInfo), &links); err != nil {
		return fmt.Errorf("minihdfs: state of %s: %w", d.name, err)
	}
	if len(links) == 1 && links[0].ActorState == "RUNNING" && links[0].NamenodeHaState == "active" {
		return nil
	}
	return fmt.Errorf("minihdfs: %s is not registered: %+v", d.name, links)
}

// WaitLive returns when the file system is writable, n DataNodes are live and fresh, and all
// others are known to be dead.
func (c *Cluster) WaitLive(ctx context.Context, n int) error {
	return c.awaitHealth(ctx, fmt.Sprintf("%d live DataNodes", n), func(h Health) bool {
		return h.Live == n && h.Usable == n && h.Stale == 0 && h.Dead == len(c.data)-n
	})
}

// WaitReplicated returns when no block has too few replicas.
func (c *Cluster) WaitReplicated(ctx context.Context) error {
	return c.awaitHealth(ctx, "replicas of all blocks", func(h Health) bool { return h.UnderReplicated == 0 })
}

// awaitHealth waits until the file system is writable and its state is as wanted.
func (c *Cluster) awaitHealth(ctx context.Context, what string, wanted func(Health) bool) error {
	return c.await(ctx, func(ctx context.Context) error {
		h, err := c.Health(ctx)
		if err == nil && !(h.State == "Operational" && wanted(h)) {
			err = fmt.Errorf("minihdfs: waiting for %s, the NameNode reports %+v", what, h)
		}
		return err
	})
}

// startTimeout bounds the start of daemons. On a busy machine the start of nine takes
// minutes.
const startTimeout = 4 * time.Minute

// await waits for the NameNode and what it reports, see daemon.await.
func (c *Cluster) await(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return c.nameNode.await(ctx, check)
}

// await repeats check until it returns nil, ctx ends, or the daemon has exited. The
// error of the last check says what is missing.
func (d *daemon) await(ctx context.Context, check func(context.Context) error) error {
	child := d.process()
	var last error
	err := syncutil.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) (bool, error) {
		if child == nil || !child.Runs() {
			return false, d.exitError()
		}
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil && ctx.Err() != nil {
		return errors.Join(err, last)
	}
	return err
}
