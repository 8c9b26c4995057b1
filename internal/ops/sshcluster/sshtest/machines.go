package sshtest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// Hosts are the names of all machines. Start makes the first of them.
var Hosts = []string{"127.0.1.1", "127.0.1.2", "127.0.1.3", "127.0.1.4", "127.0.1.5"}

// Names of keys of users. The machines accept the first one only.
const (
	UserKey  = "user"
	OtherKey = "other"
)

// Network is a network of machines.
type Network interface {
	// Enter makes a command run on a machine.
	Enter(cmd *exec.Cmd, host string) error
}

// loopback is the network of this machine, whose loopback addresses are the machines.
type loopback struct{}

// Enter implements Network.
func (loopback) Enter(*exec.Cmd, string) error { return nil }

// Machines are machines with an sshd. It is used by one goroutine.
type Machines struct {
	// Dir is a directory of the test.
	Dir string
	// Hosts are the names of the machines.
	Hosts []string

	t       testing.TB
	network Network
	sshd    string // program
	user    string // name of the user of the test
	port    int
	starter *procfs.Starter
	servers map[string]*server // by host; absent if it was stopped
	trusted map[string]string  // name of the key that known_hosts has, by host
}

// Start starts an sshd on each of some machines, at most five. It skips the test if there is no
// sshd, except in CI.
func Start(t testing.TB, count int) *Machines {
	t.Helper()
	return StartOn(t, loopback{}, FreePort(t), Hosts[:count]...)
}

// StartOn starts an sshd on machines of another network, at a port.
func StartOn(t testing.TB, network Network, port int, hosts ...string) *Machines {
	t.Helper()
	m := &Machines{Dir: t.TempDir(), Hosts: hosts, t: t, network: network, port: port, sshd: findServer(t), servers: make(map[string]*server), trusted: make(map[string]string)}
	u, err := user.Current()
	m.must(err)
	m.user = u.Username
	m.must(os.Mkdir(m.file(""), 0o700))
	for _, key := range slices.Concat([]string{UserKey, OtherKey}, m.Hosts) {
		m.makeKey(key)
	}
	m.starter = procfs.NewStarter()
	t.Cleanup(func() {
		for _, host := range slices.Collect(maps.Keys(m.servers)) {
			m.StopServer(host)
		}
		m.starter.Close()
	})
	for _, host := range m.Hosts {
		m.trusted[host] = host
		m.StartServer(host)
	}
	m.writeKnownHosts()
	return m
}

// findServer returns the program sshd, or skips the test.
func findServer(t testing.TB) string {
	t.Helper()
	for _, file := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if path, err := exec.LookPath(file); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no sshd; install openssh-server")
	}
	t.Skip("no sshd; install openssh-server to run this test")
	return ""
}

// Shell returns the command of ssh for these machines, with the key of a user. {host} stands for
// the machine.
func (m *Machines) Shell(key string) string {
	return fmt.Sprintf("ssh -F /dev/null -p %d -i %s -l %s -o IdentitiesOnly=yes -o IdentityAgent=none -o UserKnownHostsFile=%s -o BatchMode=yes {host}",
		m.port, m.file(key), m.user, m.file("known_hosts"))
}

// Trust writes a known_hosts file in which a machine has the key of another one, as if it had been
// installed again. Its own name trusts its real key; "" trusts none.
func (m *Machines) Trust(host, key string) {
	m.t.Helper()
	m.trusted[host] = key
	m.writeKnownHosts()
}

func (m *Machines) writeKnownHosts() {
	m.t.Helper()
	var known strings.Builder
	for _, host := range m.Hosts {
		if key := m.trusted[host]; key != "" {
			fmt.Fprintf(&known, "[%s]:%d %s\n", host, m.port, m.publicKey(key))
		}
	}
	m.must(os.WriteFile(m.file("known_hosts"), []byte(known.String()), 0o600))
}

// publicKey returns the type and the key, without its comment.
func (m *Machines) publicKey(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(m.file(name + ".pub"))
	m.must(err)
	words := strings.Fields(string(text))
	return strings.Join(words[:min(2, len(words))], " ")
}

func (m *Machines) makeKey(name string) {
	m.t.Helper()
	cmd := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", m.file(name))
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// file returns the path of a file of ssh.
func (m *Machines) file(name string) string { return filepath.Join(m.Dir, "ssh", name) }

func (m *Machines) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}
