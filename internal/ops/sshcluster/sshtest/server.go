package sshtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// server is a running sshd.
type server struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ended  chan struct{}
}

// startTimeout bounds the start of an sshd.
const startTimeout = time.Minute

// StartServer starts the sshd of a machine, and returns when it accepts connections.
func (m *Machines) StartServer(host string) {
	m.t.Helper()
	if os.Getuid() == 0 { // sshd of root needs the directory; its package makes it at boot
		m.must(os.MkdirAll("/run/sshd", 0o755))
	}
	config := fmt.Sprintf("ListenAddress %s:%d\nHostKey %s\nAuthorizedKeysFile %s\n"+
		"KexAlgorithms curve25519-sha256\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nMaxStartups 100\n",
		host, m.port, m.file(host), m.file(UserKey+".pub"))
	m.must(os.WriteFile(m.file(host+".config"), []byte(config), 0o600))
	s := &server{cmd: exec.Command(m.sshd, "-D", "-e", "-f", m.file(host+".config")), ended: make(chan struct{})}
	s.cmd.Stderr = &s.stderr
	m.must(m.network.Enter(s.cmd, host))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	m.must(m.starter.Start(s.cmd.Start))
	m.servers[host] = s
	go func() {
		defer close(s.ended)
		_ = s.cmd.Wait() // it is ended by a signal
	}()
	m.awaitServer(host, s)
}

// awaitServer waits until an sshd accepts connections.
func (m *Machines) awaitServer(host string, s *server) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	address := net.JoinHostPort(host, strconv.Itoa(m.port))
	err := syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) {
		select {
		case <-s.ended:
			return false, fmt.Errorf("sshd of %s has ended: %s", host, s.stderr.Bytes())
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false, nil
		}
		return true, conn.Close()
	})
	if err != nil {
		m.t.Fatalf("sshd at %s: %v", address, err)
	}
}

// StopServer stops the sshd of a machine, which then refuses connections. Connections that are
// open stay so.
func (m *Machines) StopServer(host string) {
	m.t.Helper()
	s := m.servers[host]
	if s == nil {
		m.t.Fatalf("%s has no sshd that runs", host)
	}
	delete(m.servers, host)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		m.t.Errorf("sshd of %s: %v", host, err)
	}
	<-s.ended
}
