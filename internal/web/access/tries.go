package access

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hammr/hammr/internal/httpserver"
)

const (
	triesPerMinute = 5      // wrong tokens of one address
	maxAddresses   = 10_000 // that are remembered; further ones share one count

	// forgetInterval is the time between two searches for addresses that can be forgotten, if there
	// are maxAddresses.
	forgetInterval = time.Second
)

// tries bounds the wrong tokens that an address may send.
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

// try calls isRight and returns its result, unless the address has sent too many wrong tokens. Then
// it returns how long the address has to wait, without a call: otherwise a guess that is right would
// show. isRight must be quick: it runs under the lock, so that tries at the same time are counted.
func (t *tries) try(address string, now time.Time, isRight func() bool) (right bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.limiterLocked(address, now)
	if missing := 1 - limiter.TokensAt(now); missing > 0 {
		return false, max(time.Millisecond, time.Duration(missing/float64(limiter.Limit())*float64(time.Second)))
	}
	if isRight() {
		return true, 0
	}
	if limiter != t.mu.others {
		t.mu.addresses[address] = limiter
	}
	limiter.AllowN(now, 1)
	return false, 0
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
