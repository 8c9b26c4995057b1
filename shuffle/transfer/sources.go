package transfer

import (
	"cmp"
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// defaultBytesPerServer is the default of Sources.BytesPerServer.
const defaultBytesPerServer = 64 << 20

// Sources is the state that the fetchers of one process share. The zero value is ready. It is
// shared because a server sees all fetchers of a machine as one load.
type Sources struct {
	// BytesPerServer bounds the bytes that are requested from one server at once. A longer
	// run is requested alone. Default 64 MiB. Set it before use.
	BytesPerServer int64

	indexes indexCache
	mu      struct {
		sync.Mutex
		credit map[string]*semaphore.Weighted // free credit by address
	}
}

// borrow waits for a credit of n bytes of a server, and returns the function that returns
// the credit.
func (s *Sources) borrow(ctx context.Context, address string, n int64) (giveBack func(), err error) {
	credit, limit := s.credit(address)
	n = min(n, limit)
	if err := credit.Acquire(ctx, n); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { credit.Release(n) }, nil
}

// credit returns the credit of a server, and its size in bytes.
func (s *Sources) credit(address string) (credit *semaphore.Weighted, limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit = cmp.Or(s.BytesPerServer, defaultBytesPerServer)
	if s.mu.credit == nil {
		s.mu.credit = make(map[string]*semaphore.Weighted)
	}
	if s.mu.credit[address] == nil {
		s.mu.credit[address] = semaphore.NewWeighted(limit)
	}
	return s.mu.credit[address], limit
}
