package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/drill"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/ops/sshcluster"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// attached is a running cluster that flags name. Without --hostfile there is none, and each
// drill starts its own cluster.
type attached struct {
	// File that names the daemons and the commands to signal and restart them; "" means no
	// cluster, and then the other fields are ignored.
	hostfile string
	// Shell command that runs another command on a machine; {host} stands for the machine's
	// name.
	shell     string
	masters   string
	tokenFile string
	data      string // absolute path of a directory

	cluster  *testcluster.HostConfig // nil without a hostfile
	machines *sshFlags               // of a list of machines; nil for a list of daemons
}

// flags adds the flags that name a running cluster. --master and --token-file have the
// defaults of commands that ask a cluster.
func (a *attached) flags(flags *pflag.FlagSet) {
	flags.StringVar(&a.hostfile, "hostfile", "", "`file` with the machines, or the daemons, of a running cluster to use for drills")
	flags.StringVar(&a.shell, "shell", hostfile.DefaultShell, "`command` that runs its last argument on a machine; {host} is the machine's SHELL in the hostfile")
	flags.StringVar(&a.masters, "master", os.Getenv(rpc.MasterVariable), "addresses of masters of the hostfile's cluster, as `host:port,...`")
	flags.StringVar(&a.tokenFile, "token-file", os.Getenv(rpc.TokenFileVariable), "`file` with the secret of the hostfile's cluster")
	flags.StringVar(&a.data, "data", "", "full name of a `directory` that all machines can read and write, such as hdfs://nn/drills (default one of this machine)")
}

// prepare reads the hostfile and checks the flags, and reports every mistake at once.
// Without --hostfile it ignores the other flags.
func (a *attached) prepare() error {
	if a.hostfile == "" {
		return nil
	}
	text, err := os.ReadFile(a.hostfile)
	if err != nil {
		return fmt.Errorf("--hostfile: %w", err)
	}
	f, err := hostfile.Parse(a.hostfile, text)
	if f.Machines != nil {
		return a.prepareMachines()
	}
	cluster := &testcluster.HostConfig{TokenFile: a.tokenFile, Shell: strings.Fields(a.shell)}
	hosts := f.Daemons
	errs := []error{err}
	cluster.Hosts = hosts
	// ParseMasters accepts an empty list; prepare does not.
	if cluster.Masters, err = rpc.ParseMasters(a.masters); err != nil || a.masters == "" {
		errs = append(errs, errNoCluster)
	}
	a.cluster = cluster
	return errors.Join(append(errs,
		validate.That(a.tokenFile != "", "--token-file is missing: the file with the cluster's secret"),
		validate.That(a.data == "" || strings.Contains(a.data, "://"), "--data %q: expected a full name, such as hdfs://nn/drills", a.data),
	)...)
}

// prepareMachines reads a list of machines. What it does not say is known after open.
func (a *attached) prepareMachines() error {
	a.machines = &sshFlags{hostfile: a.hostfile, shell: a.shell, tokenFile: a.tokenFile, timeout: time.Minute}
	if err := a.machines.prepare(); err != nil {
		return err
	}
	plan, err := sshcluster.NewPlan(a.machines.file)
	a.cluster = new(testcluster.HostConfig)
	if err == nil {
		a.cluster.Hosts = plan.Daemons()
	}
	return err
}

// open connects to the machines of a list of machines, completes the cluster from what they have,
// and copies this program to them for the guards. The function that it returns ends all faults.
func (a *attached) open(ctx context.Context, stderr io.Writer) (end func() error, err error) {
	if a.machines == nil {
		return func() error { return nil }, nil
	}
	cfg, err := a.machines.config(io.Discard, stderr)
	if err != nil {
		return nil, err
	}
	c, err := sshcluster.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := c.OnMachines(ctx, nil, "guard list", true, func(string, string) {}); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	plan := c.Plan()
	a.cluster = &testcluster.HostConfig{
		Hosts: plan.Daemons(), Masters: plan.Masters(), TokenFile: a.machines.tokenFile, Run: c.Run, HDFS: plan.FileSystem(),
	}
	if a.cluster.HDFS != "" {
		if a.data == "" {
			a.data = a.cluster.HDFS + "/drills"
		}
		err = errors.Join(plan.WriteClientConf(a.machines.clientConf()), os.Setenv("HADOOP_CONF_DIR", a.machines.clientConf()))
	}
	return func() error {
		undone := c.OnMachines(context.WithoutCancel(ctx), nil, "guard undo", false, func(string, string) {})
		return errors.Join(undone, c.Close())
	}, err
}

// clusterForPlans returns the cluster for random plans: its size, and the faults for which
// its hostfile has commands. The zero value is a cluster that the drill starts, which
// accepts all faults.
func (a *attached) clusterForPlans() (c chaos.Cluster) {
	if a.cluster == nil {
		return c
	}
	masters, tasknodes := a.cluster.Names()
	c.Masters, c.Tasknodes = len(masters), len(tasknodes)
	c.Accepts = func(f chaos.Fault) bool { return drill.CanInject(a.cluster, f) == nil }
	return c
}
