package access

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hammr/hammr/internal/rpc/httpserver"
)

const (
	triesPerMinute = 5      // wrong tokens of one address
	maxAddresses   = 10_000 // that are remembered; further ones share one count

	// forgetInterval is the time between two searches for addresses that can be forgotten, if there
	// are maxAddresses.
	forgetInterval = time.Second
)

// tries bounds the wrong tokens that an address may send, so that a program with a wrong token does not
// fill the audit log. It does not protect the token, which is too long to be guessed (rpc.ReadToken).
type tries struct {
	mu struct {
		sync.Mutex
		addresses map[string]*rate.Limiter // at most maxAddresses
		others    *rate.Limiter            // of addresses that do not fit
		forgetAt  time.Time                // when to search next for addresses that can be forgotten
	}
}

func newTries() *tries {
	t := new(tries)
	t.mu.addresses, t.mu.others = make(map[string]*rate.Limiter), newTriesLimiter()
	return t
}

func newTriesLimiter() *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/triesPerMinute), triesPerMinute)
}

// wrong counts a wrong token of an address. It returns 0, or how long the address has to wait before
// the next one because it has sent too many. The right token is not counted and never waits: otherwise
// a task, or a neighbor behind a NAT, that shares the address of the holder could lock the holder out.
func (t *tries) wrong(address string, now time.Time) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.limiterLocked(address, now)
	if missing := 1 - limiter.TokensAt(now); missing > 0 {
		return max(time.Millisecond, time.Duration(missing/float64(limiter.Limit())*float64(time.Second)))
	}
	if limiter != t.mu.others {
		t.mu.addresses[address] = limiter
	}
	limiter.AllowN(now, 1)
	return 0
}

// limiterLocked returns the limiter of an address. That of an address without wrong tries is new
// and not yet in the map.
func (t *tries) limiterLocked(address string, now time.Time) *rate.Limiter {
	if limiter := t.mu.addresses[address]; limiter != nil {
		return limiter
	}
	if len(t.mu.addresses) >= maxAddresses && !now.Before(t.mu.forgetAt) {
		t.mu.forgetAt = now.Add(forgetInterval)
		for name, limiter := range t.mu.addresses {
			if limiter.TokensAt(now) >= triesPerMinute {
				delete(t.mu.addresses, name)
			}
		}
	}
	if len(t.mu.addresses) >= maxAddresses {
		return t.mu.others
	}
	return newTriesLimiter()
}

// networkOf returns the part of a client's address that counts as one caller; see httpserver.SourceOf.
func networkOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	return httpserver.SourceOf(address).String()
}
