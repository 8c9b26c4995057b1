package netns_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/netns"
)

// insideMark is an environment variable of the processes that the tests start. It says what
// a process must do.
const insideMark = "NETNS_TEST_INSIDE"

const linkOf = "7777"

func TestMain(m *testing.M) {
	switch do := os.Getenv(insideMark); do {
	case "":
		os.Exit(m.Run())
	case "serve":
		serve()
	default:
		if err := play(do); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// serve sends as many bytes as it is asked for, in a machine's namespace.
func serve() {
	l, err := net.Listen("tcp", os.Args[1]+":"+linkOf)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	for {
		c, err := l.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			_, _ = c.Write(make([]byte, asked)) // the other end reports how many arrived
			c.Close()
		}()
	}
}

const asked = 8 << 20

// inside runs a play in namespaces of its own for networks and mounts.
func inside(t *testing.T, name string) {
	t.Helper()
	for _, tool := range []string{"ip", "tc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("namespaces with names take root")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), insideMark+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestLimitIsOfTheLink(t *testing.T) { inside(t, "limit") }
func TestCutAndRemove(t *testing.T)     { inside(t, "cut") }

// play runs one test with two machines; one of them serves.
func play(name string) (err error) {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "size=1m"); err != nil {
		return err
	}
	b, err := netns.New("testbridge", "10.78.0.1")
	if err != nil {
		return err
	}
	for machine, address := range map[string]string{"a": "10.78.0.11", "b": "10.78.0.12"} {
		if err := b.AddMachine(machine, address); err != nil {
			return err
		}
	}
	server := exec.Command(os.Args[0], "10.78.0.11")
	server.Env = append(os.Environ(), insideMark+"=serve")
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := netns.RunIn(server, "a"); err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _, _ = server.Process.Kill(), server.Wait() }()
	if _, err := io.ReadFull(out, make([]byte, len("ready"))); err != nil {
		return err
	}
	if name == "limit" {
		return playLimit(b)
	}
	return playCut(b)
}

// playLimit fetches over a link of 64 Mbit/s. It checks that the link needs at least the
// time for the bytes, less the first burst.
func playLimit(b *netns.Bridge) error {
	const least = (asked - 512<<10) * 8 * int(time.Second) / 64e6
	if err := b.LimitRate("a", 64); err != nil {
		return err
	}
	for range 2 {
		if took, err := fetch(); err != nil || took < time.Duration(least) {
			return fmt.Errorf("%d bytes took %v, expected %v or more: %w", asked, took, time.Duration(least), err)
		}
	}
	if err := b.LimitRate("a", 0); err != nil {
		return err
	}
	shown, err := exec.Command("tc", "qdisc", "show").CombinedOutput()
	if err != nil || strings.Contains(string(shown), "tbf") {
		return fmt.Errorf("the limit was lifted: %s: %w", shown, err)
	}
	_, err = fetch()
	return err
}

// fetch fetches the bytes that machine a serves, and returns the time it took.
func fetch() (took time.Duration, err error) {
	began := time.Now()
	c, err := net.DialTimeout("tcp", "10.78.0.11:"+linkOf, time.Minute)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	n, err := io.Copy(io.Discard, c)
	if err == nil && n != asked {
		err = fmt.Errorf("%d bytes came", n)
	}
	return time.Since(began), err
}

// playCut checks that a machine can be reached only while its link is connected, and that
// Remove leaves nothing.
func playCut(b *netns.Bridge) error {
	if err := b.Disconnect("a"); err != nil {
		return err
	}
	if c, err := net.DialTimeout("tcp", "10.78.0.11:"+linkOf, 300*time.Millisecond); err == nil {
		c.Close()
		return fmt.Errorf("the machine is reached over a link that is cut")
	}
	if err := b.Reconnect("a"); err != nil {
		return err
	}
	if _, err := fetch(); err != nil {
		return err
	}
	if err := b.Remove(); err != nil {
		return err
	}
	left, err := exec.Command("ip", "netns", "list").CombinedOutput()
	if err != nil || len(left) > 0 {
		return fmt.Errorf("namespaces are left: %s: %w", left, err)
	}
	links, err := exec.Command("ip", "-brief", "link").CombinedOutput()
	if err != nil || strings.Contains(string(links), "v-") || strings.Contains(string(links), "testbridge") {
		return fmt.Errorf("links are left: %s: %w", links, err)
	}
	return nil
}
