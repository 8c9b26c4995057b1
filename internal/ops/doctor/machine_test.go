package doctor

import (
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/daemon/tasknoded"
	"github.com/hammr/hammr/internal/testing/must"
)

// pageOf serves the page of a daemon, and returns its address.
func pageOf(t *testing.T, cfg daemon.PageConfig) string {
	t.Helper()
	s := httptest.NewServer(daemon.NewPage(cfg))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestConfiguration(t *testing.T) {
	target := newTarget(t)
	expect(t, run(t, target, "configuration"), want{Skipped, "--config"})
	target.Daemons = []Daemon{{Source: "a.yaml", Kind: Tasknode, Name: "n1"}, {Source: "b.yaml", Err: errors.New("b.yaml:1: x: no such setting\n--dir is missing")}}
	expect(t, run(t, target, "configuration"), want{OK, "a.yaml: tasknode n1"}, want{Fault, "no such setting; --dir is missing"})
}

// TestPorts has a port that is free, one that another process has, one that the daemon itself has, and an address
// of another machine.
func TestPorts(t *testing.T) {
	taken, page := listen(t).Addr().String(), pageOf(t, daemon.PageConfig{Title: "tasknode n1"})
	strange := pageOf(t, daemon.PageConfig{Title: "tasknode n11"})
	target := newTarget(t)
	expect(t, run(t, target, "ports"), want{Skipped, "no configuration"})
	for _, c := range []struct {
		address, http string
		want          [2]want
	}{
		{refusing(t), "127.0.0.1:0", [2]want{{OK, "free"}, {OK, "any free port"}}},
		{taken, refusing(t), [2]want{{Fault, "--address " + taken + ": another process has the port"}, {OK, "free"}}},
		{taken, page, [2]want{{OK, "in use by this daemon"}, {OK, "in use by this daemon"}}},
		{taken, strange, [2]want{{Fault, "another process"}, {Fault, "another process"}}},
		{refusing(t), page, [2]want{{Warn, "free, although the daemon runs"}, {OK, "in use by this daemon"}}},
		{"192.0.2.1:7071", "127.0.0.1:0", [2]want{{Fault, "not an address of this machine"}, {OK, ""}}},
		{"127.0.0.1:port", "127.0.0.1:0", [2]want{{Fault, "--address 127.0.0.1:port"}, {OK, ""}}},
	} {
		target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Common: daemon.Common{Address: c.address, HTTP: c.http}}}
		expect(t, run(t, target, "ports"), c.want[:]...)
	}
}

func TestToken(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef\n"
	target := newTarget(t)
	expect(t, run(t, target, "token"), want{Skipped, "no file of a token"})
	file := write(t, filepath.Join(t.TempDir(), "token"), secret)
	target.TokenFiles = []string{file, file}
	expect(t, run(t, target, "token"), want{OK, "mode 0600"})
	for _, mode := range []os.FileMode{0o644, 0o620, 0o601} {
		must.Do(t, os.Chmod(file, mode))
		expect(t, run(t, target, "token"), want{Fault, "other users can use it"})
	}
	fixed := Run(t.Context(), target, Options{Only: []string{"token"}, Fix: true}).Findings
	expect(t, fixed, want{OK, "to 0600, because"})
	expect(t, run(t, target, "token"), want{OK, "mode 0600"})

	write(t, file, "short\n")
	expect(t, run(t, target, "token"), want{Fault, "a token needs 16"})
	target.TokenFiles = []string{file + "s", t.TempDir()}
	expect(t, run(t, target, "token"), want{Fault, "does not exist"}, want{Fault, ""})
}

// TestTokenOfAnotherUser has a daemon whose directory belongs to another user than its token.
func TestTokenOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files to other users")
	}
	dir := t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "token"), strings.Repeat("x", 32))
	must.Do(t, os.Chown(dir, 65534, 65534))
	target := newTarget(t)
	target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Dirs: []Dir{{Path: dir}}, Common: daemon.Common{TokenFile: file}}}
	expect(t, run(t, target, "token"), want{Fault, "belongs to uid 0"})
	must.Do(t, os.Chown(file, 65534, 65534))
	expect(t, run(t, target, "token"), want{OK, "mode 0600"})
}

// TestNames has names that do not resolve (RFC 6761 reserves .invalid), and a name of the loopback interface.
func TestNames(t *testing.T) {
	target := newTarget(t)
	target.Host = "no-such-host.invalid"
	expect(t, run(t, target, "name"), want{Warn, "no-such-host.invalid"})
	target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Common: daemon.Common{Address: ":7071"}}}
	expect(t, run(t, target, "name"), want{Fault, "no-such-host.invalid"})
	target.Daemons[0].Advertise = "10.1.2.3:7071"
	expect(t, run(t, target, "name"), want{Warn, "no-such-host.invalid"})

	target.Host, target.Daemons[0].Advertise = "localhost", ""
	target.Daemons[0].Masters = []string{"127.0.0.1:7070", "no-such-master.invalid:7070", "localhost:7070", "localhost:7080"}
	expect(t, run(t, target, "name"), want{Warn, "which no other machine reaches"},
		want{Fault, "master's host no-such-master.invalid"}, want{OK, "master's host localhost is"})
	target.Daemons[0].Address = "127.0.0.1:7071"
	target.Daemons[0].Masters = nil
	expect(t, run(t, target, "name"), want{OK, "localhost is"})
	target.Host = ""
	expect(t, run(t, target, "name"), want{Fault, "no host name"})
}

// TestReverseNames compares names with those of the address of the loopback interface, which has some on each machine.
func TestReverseNames(t *testing.T) {
	names, err := net.LookupAddr("127.0.0.1")
	if err != nil {
		t.Skipf("127.0.0.1 has no name on this machine: %v", err)
	}
	expect(t, []Finding{checkReverse(t.Context(), names[0], "127.0.0.1"), checkReverse(t.Context(), "other", "127.0.0.1")},
		want{OK, "and back"}, want{Warn, "which has the name " + names[0]})
}

func TestSecurity(t *testing.T) {
	for _, c := range []struct {
		uid  int
		d    Daemon
		want []want
	}{
		{0, Daemon{Kind: Tasknode, Tasknode: tasknoded.Config{MinUID: 1000}, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "localhost:2"}}, []want{{OK, "nothing"}}},
		{1000, Daemon{Kind: Jobmaster, Common: daemon.Common{Address: "[::1]:1", HTTP: "127.0.0.1:2"}}, []want{{OK, "nothing"}}},
		{1000, Daemon{Kind: Jobmaster, Common: daemon.Common{Address: ":1", HTTP: "0.0.0.0:2"}}, []want{{Warn, "--address :1 accepts other machines"}, {Warn, "metrics without the token"}}},
		{1000, Daemon{Kind: Jobmaster, Common: daemon.Common{Address: "10.0.0.1:1", HTTP: "[::]:2", Profiles: true}}, []want{{Warn, "--address"}, {Warn, "and profiles with it"}}},
		{1000, Daemon{Kind: Tasknode, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "127.0.0.1:2", Profiles: true, Drills: true}}, []want{{Warn, "--drills"}}},
		{0, Daemon{Kind: Jobmaster, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "127.0.0.1:2"}}, []want{{Warn, "would run as root"}}},
		{0, Daemon{Kind: Tasknode, Tasknode: tasknoded.Config{RunAsDaemonUser: true, MinUID: 1000}, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "127.0.0.1:2"}}, []want{{Warn, "--own-user"}}},
		{0, Daemon{Kind: Tasknode, Tasknode: tasknoded.Config{MinUID: 999}, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "127.0.0.1:2"}}, []want{{Warn, "--min-uid 999"}}},
		{7, Daemon{Kind: Tasknode, Tasknode: tasknoded.Config{RunAsDaemonUser: true}, Common: daemon.Common{Address: "127.0.0.1:1", HTTP: "127.0.0.1:2"}}, []want{{OK, "nothing"}}},
		{7, Daemon{Kind: Tasknode, Common: daemon.Common{Address: "no-such-host.invalid:1", HTTP: "127.0.0.1:2"}}, []want{{Warn, "--address"}}},
	} {
		target := newTarget(t)
		target.UID, target.Daemons = c.uid, []Daemon{c.d}
		expect(t, run(t, target, "security"), c.want...)
	}
}

// TestUsers looks up accounts of /etc/passwd, and of a directory service whose getent and id are programs of the test.
func TestUsers(t *testing.T) {
	target := newTarget(t)
	expect(t, run(t, target, "users"), want{Skipped, "--user"})
	target.UID, target.Users = 0, []string{"nobody", "no-such-user", "bin", "daemon", "-x"}
	expect(t, run(t, target, "users"), want{Skipped, "no configuration of a tasknode"})
	target.Daemons = []Daemon{{Kind: Tasknode, Name: "n1", Tasknode: tasknoded.Config{MinUID: 1000, BannedUsers: []string{"bin"}}}}
	expect(t, run(t, target, "users"), want{OK, "nobody has uid"}, want{Fault, "no account on this machine"},
		want{Fault, "--banned-users"}, want{Fault, "below --min-uid"}, want{Fault, "not a valid name"})

	bin := t.TempDir()
	t.Setenv("PATH", bin)
	program := func(name, script string) {
		must.Do(t, os.Chmod(write(t, filepath.Join(bin, name), "#!/bin/sh\n"+script), 0o755))
	}
	target.Users = []string{"ldap-alice"}
	program("getent", "echo ldap-alice:*:70001:70000:Alice:/home/alice:/bin/sh")
	program("id", "echo 70000 70005")
	expect(t, run(t, target, "users"), want{OK, "ldap-alice has uid 70001"})
	program("getent", "exit 3")
	expect(t, run(t, target, "users"), want{Fault, "check the directory service"})

	target.Daemons[0].Tasknode.RunAsDaemonUser = true
	expect(t, run(t, target, "users"), want{OK, "as itself"})
	target.UID, target.Daemons[0].Tasknode.RunAsDaemonUser = 1000, false
	expect(t, run(t, target, "users"), want{OK, "as itself"})
}

// TestMetric reads a metric of a page as Prometheus does.
func TestMetric(t *testing.T) {
	page := pageOf(t, daemon.PageConfig{Title: "tasknode n1", Health: func() error { return nil }})
	if limit, known := metric(t.Context(), page, "process_max_fds"); !known || limit < 16 {
		t.Errorf("process_max_fds %v, %v", limit, known)
	}
	if _, known := metric(t.Context(), page, "process_max"); known {
		t.Error("a part of a name is not a metric")
	}
	if _, known := metric(t.Context(), refusing(t), "process_max_fds"); known {
		t.Error("no page has a metric")
	}
}
