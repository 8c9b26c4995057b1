package daemon

import (
	"cmp"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/internal/syncutil"
)

// Limits bound the connections that callers may have open at a listener. Without bounds,
// strangers could take all file descriptors of a daemon, which its log and its files need.
type Limits struct {
	// Total bounds all connections. At most half of the process's limit of open files is used.
	// Default 16384.
	Total int
	// PerAddress bounds the connections from one IPv4 address or one IPv6 network of 64 bits.
	// Default 1024.
	PerAddress int
	// Proxies are networks in which PerAddress does not count: a proxy's connections are those of all
	// its clients.
	Proxies []netip.Prefix
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

// Listener is a TCP listener that closes connections beyond its Limits at once.
type Listener struct {
	*net.TCPListener
	logger  *slog.Logger
	refused atomic.Int64
	refusal syncutil.Throttle // log lines about refused connections

	mu struct {
		sync.Mutex
		limits    Limits
		open      int                // accepted connections; none is accepted while it is >= limits.Total
		byAddress map[netip.Addr]int // the same by source; each > 0, and none is accepted while it is >= limits.PerAddress
	}
}

// newListener bounds the connections of a listener.
func newListener(l *net.TCPListener, limits Limits) *Listener {
	limits = limits.capped(openFilesLimit())
	bounded := &Listener{TCPListener: l, logger: limits.Logger}
	bounded.mu.limits, bounded.mu.byAddress = limits, make(map[netip.Addr]int)
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
		address := addressOf(conn.RemoteAddr())
		if bound := l.admit(address); bound != "" {
			conn.Close()
			l.refused.Add(1)
			if skipped, ok := l.refusal.Allow(); ok {
				l.logger.Warn("connection refused", "at", l.Addr(), "from", conn.RemoteAddr(), "cause", bound, "not logged", skipped)
			}
			continue
		}
		return &boundedConn{TCPConn: conn, release: func() { l.release(address) }}, nil
	}
}

// admit counts a connection, or returns the bound that it would exceed.
func (l *Listener) admit(address netip.Addr) (bound string) {
	source := sourceOf(address)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.mu.open >= l.mu.limits.Total:
		return "too many connections; see --max-connections"
	case l.mu.byAddress[source] >= l.mu.limits.PerAddress && !l.mu.limits.isProxy(address):
		const cause = "too many connections from this address"
		if l.mu.limits.Remedy == "" {
			return cause
		}
		return cause + "; see " + l.mu.limits.Remedy
	}
	l.mu.open++
	l.mu.byAddress[source]++
	return ""
}

// release ends the count of a connection.
func (l *Listener) release(address netip.Addr) {
	source := sourceOf(address)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.open--
	if l.mu.byAddress[source]--; l.mu.byAddress[source] == 0 {
		delete(l.mu.byAddress, source)
	}
}

func addressOf(remote net.Addr) netip.Addr {
	tcp, _ := remote.(*net.TCPAddr)
	if tcp == nil {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// sourceOf returns the unit in which connections are counted. One caller often has a whole IPv6
// network of 64 bits.
func sourceOf(address netip.Addr) netip.Addr {
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().Addr()
	}
	return address
}

// boundedConn ends the count of its connection at the first Close.
type boundedConn struct {
	*net.TCPConn
	release func()
	once    sync.Once
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.once.Do(c.release)
	return c.TCPConn.Close()
}
