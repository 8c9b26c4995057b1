package rig

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Host is a daemon of a cluster that somebody else has started.
type Host struct {
	Role  string // jobmaster or tasknode
	Name  string // in the cluster
	Page  string // host:port of its page
	Shell string // what stands for {host} in commands on its machine; "" for no commands
	Start string // the command that starts it there; "" for none
}

// Roles of hosts.
const (
	Jobmaster = "jobmaster"
	Tasknode  = "tasknode"
)

// maxHostfile is how long a file with hosts may be, in bytes.
const maxHostfile = 1 << 20

// ParseHosts reads a hostfile, docs/formats/hostfile.md. Every line that is wrong is
// named; file is only a name.
func ParseHosts(file string, text []byte) (hosts []Host, err error) {
	if len(text) > maxHostfile {
		return nil, fmt.Errorf("%s: it has %d bytes; a hostfile has at most %d", file, len(text), maxHostfile)
	}
	var faults []error
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		h, err := parseHost(words)
		if err == nil && slices.ContainsFunc(hosts, func(o Host) bool { return o.Name == h.Name }) {
			err = fmt.Errorf("%s is there twice", h.Name)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", file, i+1, err))
		}
		hosts = append(hosts, h)
	}
	for _, role := range []string{Jobmaster, Tasknode} {
		if !slices.ContainsFunc(hosts, func(h Host) bool { return h.Role == role }) {
			faults = append(faults, fmt.Errorf("%s: no %s; a cluster has at least one", file, role))
		}
	}
	if err := errors.Join(faults...); err != nil {
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
