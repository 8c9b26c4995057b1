package guard_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/netns"
)

var plays = map[string]func(*machine) error{
	"links": playLinks, "delay": playDelay, "limit": playLimit, "killed": playKilledGuard, "disk": playDisk,
}

func TestLinks(t *testing.T)                     { inside(t, "links") }
func TestDelay(t *testing.T)                     { inside(t, "delay") }
func TestLimitOutlivesTheClient(t *testing.T)    { inside(t, "limit") }
func TestGuardThatIsKilledIsUndone(t *testing.T) { inside(t, "killed") }
func TestFullDisk(t *testing.T)                  { inside(t, "disk") }

// playLinks breaks the link of the machine in each way but delays. ssh works all the time, and
// nothing is left in the end.
func playLinks(m *machine) error {
	if _, err := reach(port, false); err != nil { // a new link may take a second to come up
		return err
	}
	for _, c := range []struct {
		link            chaos.Link
		arrive, answers [2]int // of 100 datagrams: at least, at most; a late answer may not count
	}{
		{chaos.Link{}, [2]int{100, 100}, [2]int{50, 100}},
		{chaos.Link{NoReceive: true}, [2]int{0, 0}, [2]int{0, 0}},
		{chaos.Link{NoSend: true}, [2]int{100, 100}, [2]int{0, 0}},
		{chaos.Link{Loss: 50}, [2]int{25, 75}, [2]int{1, 50}},
		{chaos.Link{Mbits: 100}, [2]int{100, 100}, [2]int{50, 100}},
	} {
		if err := m.network.Apply(c.link); err != nil {
			return err
		}
		arrived, answered, err := m.datagrams(100)
		if err != nil || arrived < c.arrive[0] || arrived > c.arrive[1] || answered < c.answers[0] || answered > c.answers[1] {
			return fmt.Errorf("%+v: %d datagrams arrived and %d were answered, want %v and %v: %w", c.link, arrived, answered, c.arrive, c.answers, err)
		}
		if _, err := reach(sshPort, false); err != nil {
			return fmt.Errorf("%+v: ssh: %w", c.link, err)
		}
		if c.link.Loss > 0 {
			continue // TCP takes long
		}
		cut := c.link.NoSend || c.link.NoReceive
		if _, err := reach(port, cut); (err != nil) != cut {
			return fmt.Errorf("%+v: %w", c.link, err)
		}
	}
	const mbits = 32
	least := time.Duration(asked-1<<20) * 8 * time.Second / (mbits * 1e6)
	if err := m.network.Apply(chaos.Link{Mbits: mbits}); err != nil {
		return err
	}
	if took, err := reach(port, false); err != nil || took < least {
		return fmt.Errorf("%d bytes took %v at %d Mbit/s, want at least %v: %w", asked, took, mbits, least, err)
	}
	if took, err := reach(sshPort, false); err != nil || took > least {
		return fmt.Errorf("%d bytes of ssh took %v: %w", asked, took, err)
	}
	if err := m.network.Apply(chaos.Link{}); err != nil {
		return err
	}
	shown, err := exec.Command("tc", "-n", "a", "qdisc", "show", "dev", netns.Device).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(shown), "qdisc noqueue 0: root") || strings.Contains(string(shown), "clsact") {
		return fmt.Errorf("in the end: %s: %w", shown, err)
	}
	return nil
}

// datagrams sends datagrams, and returns how many arrived and how many came back.
func (m *machine) datagrams(n int) (arrived, answered int, err error) {
	c, err := net.Dial("udp", served+":"+port)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	b := make([]byte, 100)
	for i := range n {
		if _, err := fmt.Fprintf(c, "%d", i); err != nil {
			return 0, 0, err
		}
		// The link is idle: an answer comes at once or never.
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
			return 0, 0, err
		}
		if _, err := c.Read(b); err == nil {
			answered++
		}
	}
	counted, err := exec.Command("ip", "netns", "exec", "a", "cat", "/proc/net/snmp").Output()
	if err != nil {
		return 0, 0, err
	}
	arrived, m.arrived = inDatagrams(string(counted))-m.arrived, inDatagrams(string(counted))
	return arrived, answered, nil
}

// inDatagrams returns the number of datagrams that a machine has received, of /proc/net/snmp.
func inDatagrams(snmp string) (n int) {
	for line := range strings.Lines(snmp) {
		_, _ = fmt.Sscanf(line, "Udp: %d", &n) // the line of names has none
	}
	return n
}

// playDelay checks a delay, or that a kernel without netem refuses it and changes nothing.
func playDelay(m *machine) error {
	err := m.network.Apply(chaos.Link{Delay: 100 * time.Millisecond})
	if errors.Is(err, guard.ErrNoNetem) {
		shown, err := exec.Command("tc", "-n", "a", "qdisc", "show", "dev", netns.Device).CombinedOutput()
		if err != nil || strings.Contains(string(shown), "htb") {
			return fmt.Errorf("a refused delay leaves %s: %w", shown, err)
		}
		fmt.Println("skip: " + guard.ErrNoNetem.Error())
		return nil
	}
	took, err2 := reach(port, false)
	fast, err3 := reach(sshPort, false)
	if err := errors.Join(err, err2, err3); err != nil || took < 200*time.Millisecond || fast > 100*time.Millisecond {
		return fmt.Errorf("with a delay of 100 ms it took %v, by ssh %v: %w", took, fast, err)
	}
	return nil
}

// client starts a client that injects a fault into the machine, and returns once it is injected.
func (m *machine) client(words ...string) (*exec.Cmd, error) {
	cmd := exec.Command(os.Args[0], append([]string{m.dir}, words...)...)
	cmd.Env = append(os.Environ(), insideMark+"=client")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := netns.RunIn(cmd, "a"); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, err = fmt.Fscanln(out, new(string)) // the first word of the line
	if err != nil && err.Error() != "expected newline" {
		return cmd, fmt.Errorf("no fault: %w", err)
	}
	return cmd, nil
}

// playLimit kills a client whose machine is cut off. The machine ends the fault, and ssh works
// meanwhile.
func playLimit(m *machine) error {
	client, err := m.client("partition", "machine", "", "1500ms")
	if err != nil {
		return err
	}
	if err := client.Process.Kill(); err != nil {
		return err
	}
	_ = client.Wait() // it was killed
	list, err := guard.Guard{Dir: m.dir}.List(context.Background())
	if err != nil || len(list) != 1 || list[0].Port != 2222 {
		return fmt.Errorf("active: %v: %w", list, err)
	}
	if _, err := reach(port, true); err == nil {
		return errors.New("the machine is reached")
	}
	if _, err := reach(sshPort, false); err != nil {
		return fmt.Errorf("ssh: %w", err)
	}
	return m.awaitEnd()
}

// awaitEnd waits until no fault is active, and checks that the machine is reached.
func (m *machine) awaitEnd() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := syncutil.Poll(ctx, 10*time.Millisecond, func(ctx context.Context) (bool, error) {
		list, err := guard.Guard{Dir: m.dir}.List(ctx)
		return len(list) == 0, err
	})
	if err == nil {
		_, err = reach(port, false)
	}
	return err
}

// playKilledGuard kills a guard. The next one undoes its fault, and another that is active stays.
func playKilledGuard(m *machine) error {
	for _, words := range [][]string{{"one-way", "machine", "in", "30s"}, {"bandwidth", "machine", "80mbit", "30s"}} {
		if _, err := m.client(words...); err != nil {
			return err
		}
	}
	g := guard.Guard{Dir: m.dir}
	list, err := g.List(context.Background())
	if err != nil || len(list) != 2 || list[0].Fault.Kind != chaos.Bandwidth {
		return fmt.Errorf("active: %v: %w", list, err)
	}
	alive := func() bool { return procfs.StartTime(list[1].Guard.PID) == list[1].Guard.Started }
	if err := procfs.End(context.Background(), list[1].Guard.PID, alive, syscall.SIGKILL, 10*time.Second); err != nil {
		return err
	}
	// The namespace of the machine is needed to undo it.
	out, err := exec.Command("ip", "netns", "exec", "a", os.Args[0], "chaos", m.dir, "loss", "machine", "1%", "1ms").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if _, err := reach(port, false); err != nil {
		return err
	}
	shown, err := exec.Command("tc", "-n", "a", "qdisc", "show", "dev", netns.Device).CombinedOutput()
	if err != nil || !strings.Contains(string(shown), "htb") || strings.Contains(string(shown), "clsact") {
		return fmt.Errorf("of two faults one is left, and the device has %s: %w", shown, err)
	}
	if err := syscall.Kill(list[0].Guard.PID, syscall.SIGTERM); err != nil {
		return err
	}
	return m.awaitEnd()
}

// playDisk fills a small disk, until another process ends the fault.
func playDisk(m *machine) error {
	if err := syscall.Mount("tmpfs", m.dir, "tmpfs", 0, "size=8m"); err != nil {
		return err
	}
	g := guard.Guard{Dir: m.dir}
	f, err := chaos.MachineFault(chaos.FullDisk, chaos.Tasknode, "", time.Hour)
	if err != nil {
		return err
	}
	ended := make(chan error)
	injected := make(chan guard.Record)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { ended <- g.Run(ctx, f, false, func(r guard.Record) { injected <- r }) }()
	select {
	case err := <-ended:
		return err
	case <-injected:
	}
	if err := os.WriteFile(m.dir+"/x", make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("on a full disk: %w", err)
	}
	if err := os.WriteFile(m.dir+"/x", make([]byte, 256<<10), 0o600); err != nil {
		return fmt.Errorf("the remainder: %w", err)
	}
	cancel()
	if err := <-ended; err != nil {
		return err
	}
	return os.WriteFile(m.dir+"/x", make([]byte, 2<<20), 0o600)
}
