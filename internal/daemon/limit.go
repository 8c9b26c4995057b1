package daemon

import (
	"cmp"
	"container/list"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/httpserver"
)

// Limits bound the connections that callers may have open at a listener. Without bounds,
// strangers could take all file descriptors of a daemon, which its log and its files need.
type Limits struct {
	// Total bounds all connections. At most half of the process's limit of open files is used.
	// Default 16384.
	Total int
	// PerAddress bounds the connections from one source; see httpserver.SourceOf. Default 1024.
	PerAddress int
	// Proxies are networks in which PerAddress does not count: a proxy's connections are those of all
	// its clients.
	Proxies []netip.Prefix
	// IdentityTimeout is how long a connection may last on which no peer has shown a secret. Default 10 s.
	IdentityTimeout time.Duration
	// Remedy is the flag that the log names for PerAddress. Default none.
	Remedy string
	// Logger receives at most one line a second about refused connections. Default none.
	Logger *slog.Logger
}

// PageLimits returns the limits of a page. A browser keeps two connections while it shows a page that
// follows the cluster, of which there are at most 1,000: one for events, one for what has changed.
func PageLimits(logger *slog.Logger) Limits {
	return Limits{Total: 2560, PerAddress: 256, Logger: logger}
}

// BehindProxies returns the limits with the networks of the flag --http-proxies, as 10.0.0.0/24. Other
// texts are left for access.New to refuse.
func (l Limits) BehindProxies(networks []string) Limits {
	l.Remedy = "--http-proxies"
	for _, text := range networks {
		if network, err := netip.ParsePrefix(text); err == nil {
			l.Proxies = append(l.Proxies, network)
		}
	}
	return l
}

// capped returns the limits with their defaults, and for a process that may open this many
// files; 0 if that is not known.
func (l Limits) capped(files int) Limits {
	l.Total, l.PerAddress = cmp.Or(l.Total, 16384), cmp.Or(l.PerAddress, 1024)
	l.IdentityTimeout = cmp.Or(l.IdentityTimeout, 10*time.Second)
	if files > 0 {
		l.Total = max(1, min(l.Total, files/2))
	}
	if l.Logger == nil {
		l.Logger = slog.New(slog.DiscardHandler)
	}
	return l
}

func (l Limits) isProxy(address netip.Addr) bool {
	return slices.ContainsFunc(l.Proxies, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Listener is a TCP listener that bounds its connections. A new connection beyond the Limits takes the
// place of the oldest stranger, a connection without an identity (httpserver.Conn), of its source or of
// all. If there is none, the new one is closed.
//
// So strangers, however many they are, refuse no client: a client shows its secret within milliseconds.
type Listener struct {
	*net.TCPListener
	logger  *slog.Logger
	refused atomic.Int64
	refusal syncutil.Throttle // log lines about closed connections

	mu struct {
		sync.Mutex
		limits    Limits
		open      int                    // accepted connections, at most limits.Total unless that was lowered
		sources   map[netip.Addr]*source // by httpserver.SourceOf; each has open > 0
		strangers list.List              // of *boundedConn, the oldest first
	}
}

// source is what is counted for the connections of one source.
type source struct {
	open      int       // at most limits.PerAddress unless that was lowered or a proxy has this address
	strangers list.List // of *boundedConn, the oldest first
}

// newListener bounds the connections of a listener.
func newListener(l *net.TCPListener, limits Limits) *Listener {
	limits = limits.capped(openFilesLimit())
	bounded := &Listener{TCPListener: l, logger: limits.Logger}
	bounded.mu.limits, bounded.mu.sources = limits, make(map[netip.Addr]*source)
	return bounded
}

// SetLimits replaces the limits. Connections that are open stay open. It keeps the logger.
func (l *Listener) SetLimits(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.limits = limits.capped(openFilesLimit())
}

// Open returns how many connections are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.open
}

// IsLoopback reports whether only this machine reaches the listener.
func (l *Listener) IsLoopback() bool {
	tcp, _ := l.Addr().(*net.TCPAddr)
	return tcp != nil && tcp.IP.IsLoopback()
}

// Refused returns how many connections were refused.
func (l *Listener) Refused() int64 { return l.refused.Load() }

// Accept implements net.Listener. Its connections embed *net.TCPConn, so that the kernel can
// copy files to them.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		c := &boundedConn{TCPConn: conn, listener: l, address: addressOf(conn.RemoteAddr())}
		victim, bound := l.admit(c)
		if victim != nil {
			_ = victim.TCPConn.Close() // its peer gets no answer
			l.refused.Add(1)
			if skipped, ok := l.refusal.Allow(); ok {
				l.logger.Warn("connection refused", "at", l.Addr(), "from", victim.RemoteAddr(), "cause", bound, "not logged", skipped)
			}
		}
		if victim != c {
			return c, nil
		}
	}
}

// admit counts a connection. If there are too many, it returns the one to close, which is not counted
// anymore, and the bound.
func (l *Listener) admit(c *boundedConn) (victim *boundedConn, bound string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limits := &l.mu.limits
	s := l.mu.sources[httpserver.SourceOf(c.address)]
	if s == nil {
		s = new(source)
		l.mu.sources[httpserver.SourceOf(c.address)] = s
	}
	l.mu.open++
	s.open++
	c.state.source = s
	c.state.timer = time.AfterFunc(limits.IdentityTimeout, c.expire)
	switch {
	case s.open > limits.PerAddress && !limits.isProxy(c.address):
		victim, bound = oldest(&s.strangers, c), "too many connections from this address"
		if limits.Remedy != "" {
			bound += "; see " + limits.Remedy
		}
	case l.mu.open > limits.Total:
		victim, bound = oldest(&l.mu.strangers, c), "too many connections; see --max-connections"
	}
	if victim != c {
		c.enlistLocked()
	}
	if victim != nil {
		victim.releaseLocked()
	}
	return victim, bound
}

// oldest returns the first of a list, or c if it is empty.
func oldest(strangers *list.List, c *boundedConn) *boundedConn {
	if first := strangers.Front(); first != nil {
		return first.Value.(*boundedConn)
	}
	return c
}

func addressOf(remote net.Addr) netip.Addr {
	tcp, _ := remote.(*net.TCPAddr)
	if tcp == nil {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}
