package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/bench/live"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/login"
)

// testbed has the flags of experiments that may run on the machines of a hostfile.
type testbed struct {
	sshFlags
	plan bool // print what will run, and end
}

// flags adds the flags.
func (b *testbed) flags(cmd *cobra.Command) {
	b.describeStart(cmd, "/var/tmp/hammr-experiment-{host}; else experiment below the directory that is given")
	cmd.Flags().BoolVar(&b.plan, "plan", false, "print what will run and for about how long, and run nothing")
}

// check reads the hostfile.
func (b *testbed) check() error {
	if b.hostfile == "" {
		return nil
	}
	return b.prepare()
}

// open returns the machines, nil if the experiment runs on this one.
func (b *testbed) open(work string, stdout, stderr io.Writer) (*live.Testbed, error) {
	if b.hostfile == "" {
		return nil, nil
	}
	b.tokenFile = filepath.Join(work, "token")
	access, err := b.config(stdout, stderr)
	access.EnsureDefaults()
	return &live.Testbed{Config: access, Work: work}, err
}

// rootNotice says which user runs the tasks of an experiment, if that is root.
func (b *testbed) rootNotice(stderr io.Writer) {
	if b.hostfile != "" && login.Name() == "root" {
		fmt.Fprintln(stderr, "Tasks of this experiment run as root where the shell's user is root.")
	}
}

// newBenchHost describes this machine. Experiments on the machines of a hostfile run it on each of
// them.
func newBenchHost() *cobra.Command {
	var dir, serve, to string
	cmd := &cobra.Command{
		Use: "host --dir DIR | --serve ADDRESS | --to ADDRESS", Hidden: true, Args: cobra.NoArgs,
		Short: "Describe this machine, or measure the network to another one",
		RunE: interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			encode := json.NewEncoder(cmd.OutOrStdout()).Encode
			switch {
			case serve != "":
				return live.ServeLink(ctx, serve)
			case to != "":
				l, err := live.MeasureLink(ctx, to)
				if err != nil {
					return err
				}
				return encode(l)
			}
			h, err := live.ThisHost(dir)
			if err != nil {
				return err
			}
			return encode(h)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", ".", "`directory` whose disk is measured")
	flags.StringVar(&serve, "serve", "", "`address` at which one measurement is answered")
	flags.StringVar(&to, "to", "", "`address` to which the network is measured")
	cmd.MarkFlagsMutuallyExclusive("dir", "serve", "to")
	return cmd
}

// printPlan prints where an experiment will run, and what.
func (b *testbed) printPlan(stdout io.Writer, what string) error {
	where := "this machine"
	if b.hostfile != "" {
		where = machinesOf(b.file)
	}
	_, err := fmt.Fprintf(stdout, "On %s:\n%s\n", where, what)
	return err
}

// machinesOf describes the machines of a hostfile for the plan of an experiment.
func machinesOf(f hostfile.File) string {
	return fmt.Sprintf("%d machines of %s, the first for a master", len(f.Machines), f.Name)
}
