package raftlog

import (
	"sync"

	"github.com/hashicorp/raft"
)

// transport carries messages of Raft. Raft handles heartbeats in the goroutines of connections and
// does not wait for them at its end. A heartbeat may write a term, so the stores must not close
// before endHeartbeats.
type transport struct {
	*raft.NetworkTransport
	mu struct {
		sync.RWMutex // held for reading while a heartbeat is handled
		ended        bool
	}
}

// SetHeartbeatHandler implements raft.Transport.
func (t *transport) SetHeartbeatHandler(handle func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(rpc raft.RPC) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		if t.mu.ended {
			rpc.Respond(nil, raft.ErrRaftShutdown)
			return
		}
		handle(rpc)
	})
}

// endHeartbeats waits for heartbeats that are handled now, and refuses others.
func (t *transport) endHeartbeats() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.mu.ended = true
}
