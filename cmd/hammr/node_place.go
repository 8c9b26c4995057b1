package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/tasknode"
)

// hostsOf are the names and addresses under which storage may know the machine
// of a listener. One that listens at an address of its own is that address
// alone, so that several tasknodes of one machine can each be near another
// DataNode.
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
		return nil, fmt.Errorf("name of this machine, which tells what lies on it: %w", err)
	}
	hosts := []string{name}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of this machine, which tell what lies on it: %w", err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts, nil
}

// sourceAddress is where connections to HDFS come from, so that a tasknode that
// listens at an address of its own is near the DataNode of that address. It is
// "", for the system to choose, where no such address is given.
func sourceAddress(address string) string {
	host, _, err := net.SplitHostPort(withDefaultPort(address, "0"))
	if ip := net.ParseIP(host); err != nil || ip == nil || ip.IsUnspecified() || host == "127.0.0.1" {
		return ""
	}
	return host
}

// addressedLauncher has tasks connect to HDFS from where their tasknode does.
type addressedLauncher struct {
	tasknode.Launcher
	source string
}

// Launch implements tasknode.Launcher.
func (l *addressedLauncher) Launch(ctx context.Context, start *taskproc.Start) (tasknode.Task, error) {
	if l.source != "" {
		if start.Properties == nil {
			start.Properties = make(map[string]string)
		}
		start.Properties[conf.HDFSLocalAddress] = l.source
	}
	return l.Launcher.Launch(ctx, start)
}
