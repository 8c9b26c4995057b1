package hdfs

import (
	"maps"
	"sync"
	"time"

	"github.com/hammr/hammr/storage/hdfs/pipeline"
)

// suspects are the DataNodes that have failed in a pipeline of this process. The NameNode
// assigns a dead DataNode until it notices the death, so each new block excludes the
// suspects. A suspect is forgotten after a time, or when too few other DataNodes are left.
type suspects struct {
	age time.Duration // after which a suspect is forgotten
	mu  struct {
		sync.Mutex
		failed map[string]failedNode // by the DataNode's UUID
	}
}

// failedNode is a DataNode and the time of its last failure.
type failedNode struct {
	node *pipeline.DatanodeInfo
	at   time.Time
}

// add records a failure of DataNodes.
func (s *suspects) add(nodes []*pipeline.DatanodeInfo, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.failed == nil {
		s.mu.failed = make(map[string]failedNode)
	}
	for _, n := range nodes {
		s.mu.failed[n.GetId().GetUuid()] = failedNode{n, now}
	}
}

// list returns the suspects, and forgets the old ones.
func (s *suspects) list(now time.Time) []*pipeline.DatanodeInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.mu.failed, func(_ string, f failedNode) bool { return now.Sub(f.at) > s.age })
	var nodes []*pipeline.DatanodeInfo
	for _, f := range s.mu.failed {
		nodes = append(nodes, f.node)
	}
	return nodes
}

// clear forgets all suspects.
func (s *suspects) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.mu.failed)
}
