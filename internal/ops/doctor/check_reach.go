package doctor

import (
	"context"
	"net"
	"time"
)

// reachTimeout bounds a connection: a firewall that drops packets refuses none.
const reachTimeout = 5 * time.Second

// slowReach is the time of a connection from which a network is slow. It includes the look-up of the name.
const slowReach = 500 * time.Millisecond

// checkReach connects to the addresses of Target.Reach.
func checkReach(ctx context.Context, t *Target) []Finding {
	found := severalAtOnce(t.Reach, func(address string) Finding { return reach(ctx, address) })
	return orSkipped(found, "no addresses; name them with --reach")
}

// reach connects to an address, and measures the time.
func reach(ctx context.Context, address string) Finding {
	dialer, began := net.Dialer{Timeout: reachTimeout}, time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	took := time.Since(began)
	if err != nil {
		return fault("start the daemon, or let the firewalls of both machines pass this port", "%s cannot be reached: %s", address, oneLine(err))
	}
	_ = conn.Close() // nothing was sent
	f := ok("%s accepts connections", address)
	if took >= slowReach {
		f = warn("look at the network and at the name service of this machine", "%s accepts connections, but only after %v", address, took.Round(time.Millisecond))
	}
	f.Millis = float64(took.Microseconds()) / 1000
	return f
}
