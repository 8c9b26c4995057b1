package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// checkPorts listens on each port of a daemon for a moment. A port that is in use must be used by the daemon
// itself; its page shows that.
func checkPorts(ctx context.Context, _ *Target, d *Daemon) []Finding {
	running := d.runs(ctx)
	return []Finding{checkPort(d, "address", d.Address, running), checkPort(d, "http", d.HTTP, running)}
}

func checkPort(d *Daemon, setting, address string, running bool) Finding {
	what := fmt.Sprintf("%s: --%s %s", d.describe(), setting, address)
	_, port, err := net.SplitHostPort(address)
	if err == nil && port == "0" {
		return ok("%s: any free port", what)
	}
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		_ = l.Close() // it has accepted nothing
		if running {
			return warn("restart the daemon, so that it uses its configuration", "%s: free, although the daemon runs", what)
		}
		return ok("%s: free", what)
	case errors.Is(err, syscall.EADDRINUSE) && running:
		return ok("%s: in use by this daemon", what)
	case errors.Is(err, syscall.EADDRINUSE):
		return fault(fmt.Sprintf("choose another --%s, or end the process that ss -ltnp 'sport = :%s' shows", setting, port),
			"%s: another process has the port", what)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fault(fmt.Sprintf("set --%s to an address of this machine, or to :%s for all", setting, port), "%s: not an address of this machine", what)
	}
	return fault(fmt.Sprintf("choose another --%s", setting), "%s: %s", what, oneLine(err))
}
