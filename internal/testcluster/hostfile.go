package testcluster

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Host is a daemon of an existing cluster.
type Host struct {
	Role  string // Jobmaster or Tasknode
	Name  string // in the cluster
	Page  string // host:port of its page
	Shell string // stands for {host} in HostConfig.Shell; "" if its machine runs no commands
	Start string // the command that starts it on its machine; "" for none
}

// Roles of hosts.
const (
	Jobmaster = "jobmaster"
	Tasknode  = "tasknode"
)

// maxHostfileBytes bounds a hostfile.
const maxHostfileBytes = 1 << 20

// ParseHosts reads a hostfile, see docs/formats/hostfile.md. The error names every line
// that is wrong; file is only a name.
func ParseHosts(file string, text []byte) (hosts []Host, err error) {
	if len(text) > maxHostfileBytes {
		return nil, fmt.Errorf("%s: it has %d bytes; a hostfile has at most %d", file, len(text), maxHostfileBytes)
	}
	var errs []error
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		h, err := parseHost(words)
		if err == nil && slices.ContainsFunc(hosts, func(o Host) bool { return o.Name == h.Name }) {
			err = fmt.Errorf("%s appears twice", h.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, i+1, err))
		}
		hosts = append(hosts, h)
	}
	for _, role := range []string{Jobmaster, Tasknode} {
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Role == role }) {
			errs = append(errs, fmt.Errorf("%s: no %s; a cluster has at least one", file, role))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return hosts, nil
}

// parseHost reads "ROLE NAME HOST:PORT [SHELL [START COMMAND]]".
func parseHost(words []string) (h Host, err error) {
	if len(words) < 3 {
		return h, errors.New("expected 'jobmaster|tasknode NAME HOST:PORT [SHELL [START COMMAND]]'")
	}
	h = Host{Role: words[0], Name: words[1], Page: words[2]}
	if h.Role != Jobmaster && h.Role != Tasknode {
		return h, fmt.Errorf("%q: expected jobmaster or tasknode", h.Role)
	}
	if host, port, err := net.SplitHostPort(h.Page); err != nil || host == "" || port == "" {
		return h, fmt.Errorf("%q: expected host:port of the daemon's page, such as a1:7081", h.Page)
	}
	if len(words) > 3 {
		h.Shell, h.Start = words[3], strings.Join(words[4:], " ")
	}
	return h, nil
}
