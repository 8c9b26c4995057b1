package hdfs

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// pool provides a small number of clients in turn. A client executes one call at a time, so
// several clients share the load. Each client renews its leases every second, so there are
// few. A client that failed is retired: it gets no new user, and closes when its last user
// releases it. So does a client without users for some time: its renewals would keep it, and its
// connection, for as long as the process lives, also if the file system is not used again.
//
//	slot 0 ── session ── users: calls, open files        acquire takes the slots in turn
//	slot 1 ── session ── …
//	          session ── users      retired: in no slot, closed by its last user
//
// Locks are taken in the order slot, session.mu. No lock is held during a call, only while a
// client connects.
type pool struct {
	options   hdfs.ClientOptions
	slots     []slot
	turn      atomic.Uint32
	preferred atomic.Uint32  // index of the NameNode that is tried first
	closing   syncutil.Group // clients being closed
	closed    atomic.Bool
	idle      time.Duration // how long a client without users lasts
}

// slot is the place of one client. Its lock is held while the client connects, so that
// concurrent callers wait for one connection.
type slot struct {
	sync.Mutex
	current *session // nil until first used and after an error
}

// session is a client in use.
type session struct {
	*hdfs.Client
	pool *pool
	slot *slot

	mu struct {
		sync.Mutex
		users   int  // calls and open files that use the client
		retired bool // the client has failed or was idle, or the pool is closed
	}
	expiry *time.Timer // calls expire; it runs while the client has no users
}

var errClosed = errors.New("the file system is closed")

// newPool returns a pool without connections.
func newPool(options hdfs.ClientOptions, clients int, idle time.Duration) *pool {
	return &pool{options: options, slots: make([]slot, clients), idle: idle}
}

// acquire returns a client, which the caller releases. It connects if the next slot has no
// client.
func (p *pool) acquire() (*session, error) {
	slot := &p.slots[p.turn.Add(1)%uint32(len(p.slots))]
	slot.Lock()
	defer slot.Unlock()
	if p.closed.Load() {
		return nil, errClosed
	}
	if slot.current == nil {
		s, err := p.connect(slot)
		if err != nil {
			return nil, err
		}
		slot.current = s
	}
	return slot.current.addUser(), nil
}

// connect creates a client for a slot. It requests the server's defaults at once, because
// the module would do this lazily and without a lock. If it fails, the next client starts
// with the other NameNode.
func (p *pool) connect(slot *slot) (*session, error) {
	options := p.options
	options.Addresses = rotate(options.Addresses, int(p.preferred.Load()))
	c, err := hdfs.NewClient(options)
	if err != nil {
		p.preferred.Add(1)
		return nil, err
	}
	if _, err := c.ServerDefaults(); err != nil {
		p.preferred.Add(1)
		c.Close()
		return nil, err
	}
	s := &session{Client: c, pool: p, slot: slot}
	s.expiry = time.AfterFunc(p.idle, s.expire)
	return s, nil
}

// rotate returns the addresses in rotated order, beginning with the address at index by. The
// module tries them in order.
func rotate(addresses []string, by int) []string {
	by %= len(addresses)
	return slices.Concat(addresses[by:], addresses[:by])
}

// addUser counts a user, who must call release.
func (s *session) addUser() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.users++
	s.expiry.Stop()
	return s
}

// release undoes addUser. The last user of a retired client closes it.
func (s *session) release() {
	s.mu.Lock()
	s.mu.users--
	last := s.mu.users == 0 && s.mu.retired
	if s.mu.users == 0 && !s.mu.retired {
		s.expiry.Reset(s.pool.idle)
	}
	s.mu.Unlock()
	if last {
		s.close()
	}
}

// expire retires a client that has no users. A user may have come while the timer expired. The lock of
// the slot makes the pool's close wait until the client is being closed.
func (s *session) expire() {
	s.slot.Lock()
	defer s.slot.Unlock()
	s.mu.Lock()
	idle := s.mu.users == 0 && !s.mu.retired
	s.mu.retired = s.mu.retired || idle
	s.mu.Unlock()
	if !idle {
		return
	}
	if s.slot.current == s {
		s.slot.current = nil
	}
	s.close()
}

// retire removes a client that failed from its slot. The next client of the slot starts with
// another NameNode of the pair.
func (s *session) retire() {
	s.slot.Lock()
	if s.slot.current == s {
		s.slot.current = nil
		s.pool.preferred.Add(1)
	}
	s.slot.Unlock()
	s.mu.Lock()
	last := s.mu.users == 0 && !s.mu.retired
	s.mu.retired = true
	s.expiry.Stop()
	s.mu.Unlock()
	if last {
		s.close()
	}
}

// close closes the client. It waits for a lease renewal in progress, which lasts until the
// deadline if the NameNode is suspended. While the pool is open, a goroutine closes the
// client. After the pool is closed, close waits itself, so that no goroutine is left.
func (s *session) close() {
	if !s.pool.closing.Go(func() { s.Client.Close() }) {
		s.Client.Close()
	}
}

// close retires all clients and waits until those without users are closed. The last user of a
// client closes it. From then on acquire returns errClosed.
func (p *pool) close() {
	p.closed.Store(true)
	for i := range p.slots {
		slot := &p.slots[i]
		slot.Lock()
		s := slot.current
		slot.Unlock()
		if s != nil {
			s.retire()
		}
	}
	p.closing.Close()
}
