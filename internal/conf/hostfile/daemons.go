package hostfile

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// Daemon is a daemon of an existing cluster.
type Daemon struct {
	Role  string // Jobmaster or Tasknode
	Name  string // in the cluster
	Page  string // host:port of its page
	Shell string // what {host} in the shell's command stands for; "" if its machine runs no commands
	Start string // the command that starts it on its machine; "" for none
}

func (f *File) readDaemons(lines []line) error {
	errs, names := lineErrors{file: f.Name}, make(seen)
	for _, l := range lines {
		d, err := parseDaemon(l.words)
		if err == nil {
			err = names.add(d.Name, l.number)
		}
		errs.add(l.number, err)
		f.Daemons = append(f.Daemons, d)
	}
	for _, role := range []string{Jobmaster, Tasknode} {
		if !slices.ContainsFunc(f.Daemons, func(d Daemon) bool { return d.Role == role }) {
			errs.errs = append(errs.errs, fmt.Errorf("%s: no %s; a cluster has at least one", f.Name, role))
		}
	}
	return errs.joined()
}

// parseDaemon reads "ROLE NAME HOST:PORT [SHELL [START COMMAND]]", of which line.isDaemon knows the role.
func parseDaemon(words []string) (d Daemon, err error) {
	if len(words) < 3 {
		return d, errors.New("expected 'jobmaster|tasknode NAME HOST:PORT [SHELL [START COMMAND]]'")
	}
	d = Daemon{Role: words[0], Name: words[1], Page: words[2]}
	if host, port, err := net.SplitHostPort(d.Page); err != nil || host == "" || port == "" {
		return d, fmt.Errorf("%q: expected host:port of the daemon's page, such as a1:7081", d.Page)
	}
	if len(words) > 3 {
		if words[3][0] == '-' { // it would be an option of ssh
			return d, fmt.Errorf("%q: expected what the shell connects to, such as root@a1", words[3])
		}
		d.Shell, d.Start = words[3], strings.Join(words[4:], " ")
	}
	return d, nil
}
