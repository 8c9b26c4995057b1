package sshcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/sshcluster/sshtest"
)

// TestOverSSH starts models of daemons on three machines with an sshd each, from fresh machines, and
// stops them. Before, machines that cannot be used are refused.
func TestOverSSH(t *testing.T) {
	l, m := newSSHLab(t)
	l.wantRefusals(m)
	done := l.keep()
	l.must(l.start())
	if rows := l.status(); len(rows) != 6 {
		t.Fatalf("%d daemons: %+v", len(rows), rows)
	}
	l.want(Running)
	l.must(l.stop())
	l.want(Stopped)
	done()
}

// startError returns the error of a start, or of the survey before it.
func (l *lab) startError() error {
	l.t.Helper()
	c, err := l.open(l.t.Context())
	if err == nil {
		err = c.Start(l.t.Context())
		l.must(c.Close())
	}
	return err
}

// wantRefusals checks that a start names the machines that cannot be used, and the remedy, and
// changes no machine.
func (l *lab) wantRefusals(m *sshtest.Machines) {
	l.t.Helper()
	l.command = strings.Fields(m.Shell(sshtest.OtherKey))
	l.wantError(l.startError(), "127.0.1.1: ", "127.0.1.3: ", "Permission denied", "the machine accepts no key of yours", "ssh-copy-id 127.0.1.3")
	l.command = strings.Fields(m.Shell(sshtest.UserKey))

	m.Trust("127.0.1.2", "127.0.1.3") // the key of another machine
	m.StopServer("127.0.1.3")
	err := l.startError()
	l.wantError(err,
		"127.0.1.2: Host key verification failed.; the machine has another key than in known_hosts",
		"127.0.1.3: ssh: connect to host 127.0.1.3 port", "Connection refused; start the machine and its sshd, or remove its line")
	if err != nil && strings.Contains(err.Error(), "127.0.1.1: ") {
		l.t.Errorf("a good machine is named: %v", err)
	}
	m.Trust("127.0.1.2", "127.0.1.2")
	m.StartServer("127.0.1.3")

	for _, host := range m.Hosts {
		if _, err := os.Stat(filepath.Join(l.dir, host)); !os.IsNotExist(err) {
			l.t.Errorf("%s was changed: %v", host, err)
		}
	}
}
