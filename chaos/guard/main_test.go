package guard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/ops/netns"
)

// insideMark is an environment variable of the processes that the tests start. It says what
// a process must do.
const insideMark = "GUARD_TEST_INSIDE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "chaos" { // the guard, as hammr is one
		exit(runGuard(os.Args[2:]))
	}
	switch do := os.Getenv(insideMark); do {
	case "":
		os.Exit(m.Run())
	case "serve":
		serve()
	case "daemon":
		exit(daemon())
	case "client":
		line, err := guard.Start(os.Args[0], append([]string{"chaos"}, os.Args[1:]...)...)
		fmt.Println(line)
		if err == nil {
			untilSignal()
		}
		exit(err)
	default:
		exit(play(do))
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runGuard injects a fault and ends it: DIR KIND ROLE BY FOR.
func runGuard(words []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	lasts, err := time.ParseDuration(words[4])
	if err != nil {
		return err
	}
	f, err := chaos.MachineFault(chaos.Kind(words[1]), chaos.Role(words[2]), words[3], lasts)
	if err != nil {
		return err
	}
	return guard.Guard{Dir: words[0]}.Run(ctx, f, false, func(r guard.Record) { fmt.Println(r) })
}

// daemon is a tasknode with a task in a process group of its own, or the task.
func daemon() error {
	if len(os.Args) > 1 {
		task := exec.Command(os.Args[0])
		task.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		if err := task.Start(); err != nil {
			return err
		}
	}
	fmt.Println("runs")
	untilSignal()
	return nil
}

func untilSignal() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
}

// Addresses and ports of the machine that serves.
const (
	served  = "10.78.0.11"
	port    = "7777"
	sshPort = "2222"
	asked   = 4 << 20
)

// serve sends bytes to clients at both ports, and sends datagrams back.
func serve() {
	for _, p := range []string{port, sshPort} {
		l, err := net.Listen("tcp", served+":"+p)
		if err != nil {
			panic(err)
		}
		go func() {
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
		}()
	}
	packets, err := net.ListenPacket("udp", served+":"+port)
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	b := make([]byte, 100)
	for {
		n, from, err := packets.ReadFrom(b)
		if err != nil {
			panic(err)
		}
		_, _ = packets.WriteTo(b[:n], from)
	}
}

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
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), insideMark+"="+name, "GUARD_TEST_DIR="+t.TempDir(), "SSH_CONNECTION=10.78.0.1 50000 "+served+" "+sshPort)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if reason, skipped := strings.CutPrefix(string(out), "skip: "); skipped {
		t.Skip(reason)
	}
}

// machine is a machine in a namespace that serves; the play is another machine beside it.
type machine struct {
	dir     string
	network guard.Network
	lines   *bufio.Reader
	arrived int // datagrams so far
}

// play runs one test.
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
	if err := b.AddMachine("a", served); err != nil {
		return err
	}
	server := exec.Command(os.Args[0])
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
	m := &machine{dir: os.Getenv("GUARD_TEST_DIR"), lines: bufio.NewReader(out), network: guard.Network{Namespace: "a", Devices: []string{netns.Device}, SSHPort: 2222}}
	if _, err := m.lines.ReadString('\n'); err != nil {
		return err
	}
	return plays[name](m)
}

// reach connects to a port and fetches all bytes. A machine that is cut off is waited for only a moment.
func reach(port string, cut bool) (took time.Duration, err error) {
	began, patience := time.Now(), 20*time.Second
	if cut {
		patience = 300 * time.Millisecond
	}
	c, err := net.DialTimeout("tcp", served+":"+port, patience)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, c)
	if err == nil && n != asked {
		err = fmt.Errorf("%d bytes came", n)
	}
	return time.Since(began), err
}
