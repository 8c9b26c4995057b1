package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

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

// rackOf looks hosts up in Hadoop's topology table, a file with a host and its
// rack on each line. It is "" without a table, and for hosts that are not in it.
func rackOf(table string, hosts []string) (string, error) {
	if table == "" {
		return "", nil
	}
	f, err := os.Open(table)
	if err != nil {
		return "", fmt.Errorf("topology table: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && slices.Contains(hosts, fields[0]) {
			return fields[1], nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("topology table %s: %w", table, err)
	}
	return "", nil
}
