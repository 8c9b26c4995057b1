package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/sshcluster"
)

// machineKinds returns the kinds of faults that the guard of a machine injects.
func machineKinds() []chaos.Kind {
	return slices.DeleteFunc(chaos.Kinds(), func(k chaos.Kind) bool { return !chaos.SpecOf(k).OnMachine })
}

// machineFault has the flags of a fault of a machine.
type machineFault struct {
	by, role string
	lasts    time.Duration
	force    bool
}

func (m *machineFault) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.by, "by", "", "`amount`: in or out (one-way), such as 20% (loss), 50ms (delay) or 8mbit (bandwidth)")
	flags.StringVar(&m.role, "role", "", "`role` that kill and stop hit: machine, jobmaster, tasknode, task, namenode or datanode (default machine)")
	flags.DurationVar(&m.lasts, "for", guard.DefaultFor, fmt.Sprintf("`time` after which the machine itself ends the fault, up to %v", guard.MaxFor))
	flags.BoolVar(&m.force, "force", false, "fill the root file system, too")
}

// fault returns the fault of the flags. One that does not last has no time.
func (m *machineFault) fault(kind string) (chaos.Fault, error) {
	spec := chaos.SpecOf(chaos.Kind(kind))
	if !spec.OnMachine {
		return chaos.Fault{}, fmt.Errorf("no fault %q of machines: expected one of %s; 'hammr chaos run' has more", kind, words(machineKinds()))
	}
	role, lasts := chaos.Role(m.role), m.lasts
	if role == "" && slices.Contains(spec.Targets, chaos.Machine) {
		role = chaos.Machine
	} else if role == "" {
		role = spec.Targets[0]
	}
	switch {
	case !spec.Lasts:
		lasts = 0
	case lasts <= 0 || lasts > guard.MaxFor:
		return chaos.Fault{}, fmt.Errorf("--for %v: expected more than 0s, up to %v", lasts, guard.MaxFor)
	}
	return chaos.MachineFault(chaos.Kind(kind), role, m.by, lasts)
}

// words returns the flags that the user has given.
func (m *machineFault) words(cmd *cobra.Command) (words []string) {
	for _, name := range []string{"by", "role", "for", "force"} {
		if f := cmd.Flags().Lookup(name); f.Changed {
			words = append(words, "--"+name+"="+f.Value.String())
		}
	}
	return words
}

// newChaosInject exits with 1 if a machine refuses the fault; others may have it then.
func newChaosInject() *cobra.Command {
	m := new(machineFault)
	cmd := &cobra.Command{
		Use:   "inject KIND HOST... --hostfile FILE [--by AMOUNT] [--for TIME]",
		Short: "Inject a fault into machines, which end it themselves in time",
		Long: `Inject a fault into machines of a hostfile. KIND is one of
` + words(machineKinds()) + `.

This program is copied to the machines, and runs there as a guard, in a session
of its own. The guard ends the fault when its time is over, also if this machine
is gone by then. The port of ssh is not touched. A full disk is that of the file
system of the hostfile's directory. kill and stop hit what runs below it; what
was killed is started again. Only root breaks networks, by the program tc.

The machines need no cluster of Hammr: a Hadoop below the directory gets the
same faults. See docs/reliability.md.`,
		Example: `  hammr chaos inject loss a2 a3 --hostfile hosts --by 20% --for 30s
  hammr chaos inject one-way a2 --hostfile hosts --by out
  hammr chaos inject kill a2 --hostfile hosts --role datanode
  hammr chaos undo --hostfile hosts`,
		Args: cobra.MinimumNArgs(2),
	}
	m.flags(cmd)
	return machinesCommand(cmd, true, func(args []string) (command string, hosts []string, err error) {
		_, err = m.fault(args[0])
		line := "guard inject " + args[0]
		for _, word := range m.words(cmd) {
			line += " " + hostfile.Quote(word)
		}
		return line, args[1:], err
	})
}

// newChaosUndo ends faults, also those whose guard was killed.
func newChaosUndo() *cobra.Command {
	return machinesCommand(&cobra.Command{
		Use:     "undo [HOST...] --hostfile FILE",
		Short:   "End the faults of some machines of a hostfile, or of all",
		Example: "  hammr chaos undo --hostfile hosts",
	}, false, onMachines("undo"))
}

// newChaosStatus ends the faults whose guard was killed, and lists the others.
func newChaosStatus() *cobra.Command {
	return machinesCommand(&cobra.Command{
		Use:     "status [HOST...] --hostfile FILE",
		Short:   "List the faults of some machines of a hostfile, or of all",
		Example: "  hammr chaos status --hostfile hosts",
	}, false, onMachines("list"))
}

// onMachines returns the call of a guard on the machines that arguments name. A machine that never
// had a fault may lack the program.
func onMachines(command string) func(hosts []string) (string, []string, error) {
	return func(hosts []string) (string, []string, error) {
		return `[ ! -d "$dir/faults" ] || guard ` + command, hosts, nil
	}
}

// machinesCommand completes a command for the machines of a hostfile, which need no cluster. act
// checks the arguments before any machine is reached.
func machinesCommand(cmd *cobra.Command, copyProgram bool, act func(args []string) (command string, hosts []string, err error)) *cobra.Command {
	f := &sshFlags{timeout: time.Minute}
	f.describeMachines(cmd, clusterDir)
	required(cmd, "hostfile")
	f.programFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		command, hosts, err := act(args)
		if err != nil {
			return err
		}
		return interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return f.with(ctx, cmd, func(ctx context.Context, c *sshcluster.Cluster, stdout, _ io.Writer) error {
				return c.OnMachines(ctx, hosts, command, copyProgram, func(host, text string) {
					for line := range strings.Lines(text) {
						fmt.Fprintf(stdout, "%s: %s\n", host, strings.TrimSpace(line))
					}
				})
			})
		})(cmd, args)
	}
	return cmd
}
