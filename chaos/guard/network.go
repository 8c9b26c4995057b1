package guard

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/hammr/hammr/chaos"
)

// Network is the network devices of a machine, whose packets Apply drops, loses or slows down.
type Network struct {
	Namespace string // name of its network namespace; "" for that of this process
	Devices   []string
	SSHPort   int // TCP port whose packets are not touched; 0 for none
}

// What Apply adds to a device has this handle and this preference, so that it removes only what it
// has added itself.
const (
	handle     = "4d52:"
	exempted   = handle + "1" // class of ssh
	limited    = handle + "2" // class of the rest
	preference = "19794"
	unlimited  = "100gbit"
)

// ErrNoNetem is the error of a delay that the kernel cannot make.
var ErrNoNetem = errors.New("the kernel has no netem: load the module sch_netem (on Debian of the kernel's package, elsewhere of kernel-modules-extra)")

// ThisMachine returns the devices of this machine that carry addresses which others reach. Traffic
// of the machine with itself does not pass them.
func ThisMachine(sshPort int) (n Network, err error) {
	n.SSHPort = sshPort
	all, err := net.Interfaces()
	for _, device := range all {
		addresses, _ := device.Addrs() // a device may vanish
		if device.Flags&net.FlagUp == 0 || device.Flags&net.FlagLoopback != 0 {
			continue
		}
		for _, a := range addresses {
			if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
				n.Devices = append(n.Devices, device.Name)
				break
			}
		}
	}
	if err == nil && len(n.Devices) == 0 {
		err = errors.New("no network device with an address: there is no network to break")
	}
	return n, err
}

// checkTools reports what is missing for Apply.
func checkTools() error {
	if _, err := exec.LookPath("tc"); err != nil {
		return errors.New("the program tc is missing: install the package iproute2")
	}
	if os.Geteuid() != 0 {
		return errors.New("networks are broken by root only")
	}
	return nil
}

// Apply makes the devices do what a Link says, whatever they did before. The zero Link removes
// everything that Apply has added. After an error the devices do nothing of it.
func (n Network) Apply(l chaos.Link) error {
	err := n.each(n.clear)
	if err == nil {
		err = n.each(func(device string) error { return n.set(device, l) })
	}
	if err != nil {
		err = errors.Join(err, n.each(n.clear))
	}
	return err
}

func (n Network) each(do func(device string) error) (err error) {
	for _, device := range n.Devices {
		err = errors.Join(err, do(device))
	}
	return err
}

// clear removes what set has added to a device.
func (n Network) clear(device string) error {
	shown, err := n.tc("qdisc", "show", "dev", device)
	if err == nil && strings.Contains(shown, " "+handle+" root") {
		_, err = n.tc("qdisc", "del", "dev", device, "root")
	}
	if err != nil || !strings.Contains(shown, "qdisc clsact ") {
		return err
	}
	left := ""
	for _, direction := range []string{"egress", "ingress"} {
		_, _ = n.tc("filter", "del", "dev", device, direction, "pref", preference) // there may be none
		filters, err := n.tc("filter", "show", "dev", device, direction)
		if left += filters; err != nil {
			return err
		}
	}
	if left == "" {
		_, err = n.tc("qdisc", "del", "dev", device, "clsact")
	}
	return err
}

// set adds what a Link needs to a device that has nothing of it.
//
//	          ┌ ingress filter: loses or drops           (clsact)
//	packets ──┤
//	          └ egress filter ─► htb ┬ :1 ssh, no limit
//	                                 └ :2 rate ─► netem delay
func (n Network) set(device string, l chaos.Link) error {
	shown, err := n.tc("qdisc", "show", "dev", device)
	if err != nil {
		return err
	}
	var calls [][]string
	for _, end := range []struct {
		direction string
		all       bool
	}{{"egress", l.NoSend}, {"ingress", l.NoReceive}} {
		percent := l.Loss
		if end.all {
			percent = 100
		}
		if percent == 0 {
			continue
		}
		if !strings.Contains(shown, "qdisc clsact ") {
			calls, shown = append(calls, []string{"qdisc", "add", "dev", device, "clsact"}), shown+"qdisc clsact "
		}
		calls = append(calls, []string{
			"filter", "add", "dev", device, end.direction, "pref", preference, "bpf", "da", "bytecode", sshFilter(n.SSHPort, percent, nextFilter, drop),
		})
	}
	if l.Delay > 0 || l.Mbits > 0 {
		if i := strings.Index(shown, ": root"); i >= 0 && !strings.HasSuffix(shown[:i], " 0") {
			return fmt.Errorf("%s has a queueing discipline of its own, which a delay or a bandwidth would replace: %.60s", device, shown)
		}
		rate := unlimited
		if l.Mbits > 0 {
			rate = fmt.Sprintf("%dmbit", l.Mbits)
		}
		calls = append(calls,
			[]string{"qdisc", "add", "dev", device, "root", "handle", handle, "htb", "default", "2"},
			[]string{"class", "add", "dev", device, "parent", handle, "classid", exempted, "htb", "rate", unlimited, "quantum", "60000"},
			[]string{"class", "add", "dev", device, "parent", handle, "classid", limited, "htb", "rate", rate, "quantum", "60000"},
			[]string{"filter", "add", "dev", device, "parent", handle, "pref", preference, "bpf", "bytecode", sshFilter(n.SSHPort, 100, nextFilter, noClass), "classid", exempted},
		)
	}
	if l.Delay > 0 {
		calls = append(calls, []string{"qdisc", "add", "dev", device, "parent", limited, "netem", "delay", fmt.Sprintf("%dus", l.Delay.Microseconds()), "limit", "100000"})
	}
	for _, call := range calls {
		if _, err := n.tc(call...); err != nil {
			return err
		}
	}
	return nil
}

// tc runs the program of that name.
func (n Network) tc(args ...string) (stdout string, err error) {
	if n.Namespace != "" {
		args = append([]string{"-n", n.Namespace}, args...)
	}
	out, err := exec.Command("tc", args...).CombinedOutput()
	switch {
	case err == nil:
		return string(out), nil
	case strings.Contains(string(out), "qdisc kind is unknown") && strings.Contains(strings.Join(args, " "), "netem"):
		return "", ErrNoNetem
	}
	return "", fmt.Errorf("tc %s: %w: %s", strings.Join(args, " "), err, out)
}
