package localcluster

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"time"
)

// Config describes a cluster. Numbers, slots, addresses and flags apply to a directory
// without a cluster, and to tasknodes that are added. An existing cluster starts with its
// old layout.
//
// A Config is a request; layout.json records the cluster. So a later Up with other numbers
// starts the old cluster, and only Add changes it.
type Config struct {
	// Dir has the cluster. Required.
	Dir string
	// Program is the command of a daemon, before "jobmaster" or "tasknode" and
	// its flags. Required.
	Program []string
	// Masters is the number of jobmasters. Default 1.
	Masters int
	// Tasknodes is the number of tasknodes. Default that of Addresses, else 1.
	Tasknodes int
	// MastersOnly starts no tasknode: the caller attaches its own. Default false.
	MastersOnly bool
	// MapSlots and ReduceSlots are the slots of each tasknode. Default 2 and 1.
	MapSlots, ReduceSlots int
	// Addresses are IP addresses of this machine, one for each tasknode. Default 127.0.0.1
	// for all.
	Addresses []string
	// MasterHosts are IP addresses, one for each jobmaster, on which all ports are free.
	// Default 127.0.0.1 for all, with ports that are free.
	MasterHosts []string
	// Namespaces are network namespaces of this machine, one for each tasknode and its
	// tasks. Default none: all share this process's namespace.
	Namespaces []string
	// MasterFlags and TasknodeFlags are more flags for the daemons. Default none.
	MasterFlags, TasknodeFlags []string
	// Detach lets the daemons outlive this process. Without Detach the daemons end with this
	// process, even if it is killed.
	Detach bool
	// BeforeStart, if not nil, may change each daemon's command before it starts. The
	// daemon's directory exists then. An error fails the start.
	BeforeStart func(name, dir string, cmd *exec.Cmd) error
	// StartTimeout bounds the start of the daemons. Default 30 s.
	StartTimeout time.Duration
}

// EnsureDefaults replaces zero fields by their defaults.
func (c *Config) EnsureDefaults() {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Masters, 1)
	if !c.MastersOnly {
		set(&c.Tasknodes, max(1, len(c.Addresses)))
	}
	set(&c.MapSlots, 2)
	set(&c.ReduceSlots, 1)
	if c.StartTimeout == 0 {
		c.StartTimeout = 30 * time.Second
	}
}

// Validate reports every error at once.
func (c *Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(c.Dir != "", "no directory for the cluster")
	check(len(c.Program) > 0, "no program for the daemons")
	check(c.Masters == 1 || c.Masters == 3 || c.Masters == 5, "%d masters; a cluster has 1, 3 or 5", c.Masters)
	check(c.MastersOnly || c.Tasknodes >= 1 && c.Tasknodes <= 1000, "%d tasknodes, not within 1 to 1000", c.Tasknodes)
	check(c.MapSlots >= 1 && c.ReduceSlots >= 1, "%d map slots and %d reduce slots; a tasknode has at least one of each", c.MapSlots, c.ReduceSlots)
	check(!c.MastersOnly || c.Tasknodes == 0, "%d tasknodes of a cluster of masters only", c.Tasknodes)
	check(len(c.Addresses) == 0 || len(c.Addresses) == c.Tasknodes, "%d addresses for %d tasknodes", len(c.Addresses), c.Tasknodes)
	check(len(c.MasterHosts) == 0 || len(c.MasterHosts) == c.Masters, "%d hosts for %d masters", len(c.MasterHosts), c.Masters)
	check(len(c.Namespaces) == 0 || len(c.Namespaces) == c.Tasknodes, "%d network namespaces for %d tasknodes", len(c.Namespaces), c.Tasknodes)
	for _, address := range slices.Concat(c.Addresses, c.MasterHosts) {
		check(net.ParseIP(address) != nil, "%q is not an IP address", address)
	}
	return errors.Join(errs...)
}
