package tasknoded

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// hostsOf returns the names and addresses by which a file system may know the machine of a
// listener. If the listener has a single address, hostsOf returns only that address. So
// several tasknodes on one machine can each be local to another DataNode.
func hostsOf(l net.Listener) ([]string, error) {
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() {
		if host == "127.0.0.1" {
			return []string{host, "localhost"}, nil
		}
		return []string{host}, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name of this machine, for locality: %w", err)
	}
	hosts := []string{name}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of this machine, for locality: %w", err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts, nil
}

// pageAddress returns the address at which others reach the page, given the address at which it
// listens. If that is all addresses, the host is that of the shuffle server: the name of a machine
// need not resolve elsewhere, as that of a pod does not.
func pageAddress(listens, advertised string) (string, error) {
	host, port, err := net.SplitHostPort(listens)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listens, err
	}
	host, _, err = net.SplitHostPort(daemon.WithDefaultPort(advertised, defaultPort))
	return net.JoinHostPort(host, port), err
}

// sourceAddress returns the address that connections to HDFS come from. If a tasknode
// listens on a single address, it is that address, so that the tasknode is local to the
// DataNode at that address. Otherwise it is "", and the system chooses.
func sourceAddress(address string) string {
	host, _, err := net.SplitHostPort(daemon.WithDefaultPort(address, "0"))
	if ip := net.ParseIP(host); err != nil || ip == nil || ip.IsUnspecified() || host == "127.0.0.1" || ip.Equal(net.IPv6loopback) {
		return ""
	}
	return host
}

// addressedLauncher makes tasks connect to HDFS from the address of their tasknode.
//
// It is needed if several tasknodes run on one machine, each next to another DataNode: HDFS
// assumes that the reader is at the source address of the connection.
type addressedLauncher struct {
	tasknode.Adopter
	source string // "" for any
}

// Launch implements tasknode.Launcher.
func (l *addressedLauncher) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	if l.source != "" {
		if start.Properties == nil {
			start.Properties = make(map[string]string)
		}
		start.Properties[conf.HDFSLocalAddress] = l.source
	}
	return l.Adopter.Launch(ctx, start)
}
