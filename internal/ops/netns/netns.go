// Package netns gives processes of one machine separate networks, as if they ran on several
// machines. Each such machine has a network namespace, and a link from it to a bridge.
//
//	namespace of m1      this process's            namespace of n1
//	10.77.0.11 eth0 ──── v-m1 ─┬ bridge ┬─ v-n1 ──── eth0 10.77.0.101
//	                        10.77.0.1
//
// Data that a machine sends to its own address stays in its namespace. All other data
// crosses the link of the sender and the link of the receiver. A link can be disconnected,
// and its rate can be limited.
//
//	b, err := netns.New("drill", "10.77.0.1")
//	defer b.Remove()
//	err = b.AddMachine("n1", "10.77.0.101")
//	err = b.LimitRate("n1", 256)
//	err = netns.RunIn(cmd, "n1")
//
// The package needs the right to make namespaces, and the programs ip and tc of iproute2.
// Namespaces and links belong to the mounts and the network of this process. If the process
// has its own namespaces for these, nothing remains after its end, even if it is killed.
package netns

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Bridge is the network between machines. Several goroutines may call its methods at once,
// except AddMachine and Remove.
type Bridge struct {
	name     string
	machines []string // in the order of AddMachine, including machines for which AddMachine failed
}

// New makes a bridge with an address for this process's namespace. The addresses of its
// machines must have the same first three numbers. The caller calls Remove.
func New(name, address string) (*Bridge, error) {
	b := &Bridge{name: name}
	err := runAll(ip, [][]string{
		{"link", "add", name, "type", "bridge"}, {"addr", "add", address + "/24", "dev", name}, {"link", "set", name, "up"},
	})
	if err != nil {
		return nil, errors.Join(err, b.Remove())
	}
	return b, nil
}

// AddMachine makes a namespace with the name of a machine, and connects it to the bridge.
func (b *Bridge) AddMachine(machine, address string) error {
	b.machines = append(b.machines, machine)
	return runAll(ip, [][]string{
		{"netns", "add", machine},
		{"link", "add", linkOf(machine), "type", "veth", "peer", "name", Device, "netns", machine},
		{"link", "set", linkOf(machine), "master", b.name, "up"},
		{"-n", machine, "addr", "add", address + "/24", "dev", Device},
		{"-n", machine, "link", "set", Device, "up"},
		{"-n", machine, "link", "set", "lo", "up"},
	})
}

// Device is the end of a machine's link in its namespace.
const Device = "eth0"

// linkOf is its end on the bridge.
func linkOf(machine string) string { return "v-" + machine } // on the bridge

// Disconnect drops all packets on a machine's link; connections stay open.
func (b *Bridge) Disconnect(machine string) error { return ip("link", "set", linkOf(machine), "down") }

// Reconnect ends a Disconnect.
func (b *Bridge) Reconnect(machine string) error { return ip("link", "set", linkOf(machine), "up") }

// LimitRate limits a machine's link to the given Mbit/s in each direction; 0 removes the
// limit.
func (b *Bridge) LimitRate(machine string, mbits int) error {
	ends := [][]string{{"-n", machine, "qdisc", "replace", "dev", Device, "root"}, {"qdisc", "replace", "dev", linkOf(machine), "root"}}
	rate := []string{"tbf", "rate", fmt.Sprintf("%dmbit", mbits), "burst", "256kb", "latency", "50ms"}
	if mbits == 0 {
		rate = []string{"noqueue"}
	}
	for i := range ends {
		ends[i] = append(ends[i], rate...)
	}
	return runAll(tc, ends)
}

// Remove removes the bridge and all machines with their links. Processes that still run in a
// machine keep its namespace, without a link.
func (b *Bridge) Remove() error {
	for _, machine := range b.machines {
		_ = ip("link", "del", linkOf(machine)) // the link may not exist
		_ = ip("netns", "del", machine)        // the namespace may not exist
	}
	b.machines = nil
	return ip("link", "del", b.name)
}

// RunIn makes a command run in the namespace of a machine. The process id does not change.
func RunIn(cmd *exec.Cmd, machine string) error {
	path, err := exec.LookPath("ip")
	if err != nil {
		return fmt.Errorf("network namespace %s: %w", machine, err)
	}
	cmd.Args = append([]string{"ip", "netns", "exec", machine, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = path
	return nil
}

func runAll(program func(...string) error, calls [][]string) error {
	for _, args := range calls {
		if err := program(args...); err != nil {
			return err
		}
	}
	return nil
}

func ip(args ...string) error { return run("ip", args) }
func tc(args ...string) error { return run("tc", args) }

// run runs a program of iproute2.
func run(program string, args []string) error {
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return nil
}
