package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// upConfig has the flags of `hammr up`. prepare passes flags of daemons on unchanged, in
// MasterFlags and TasknodeFlags.
type upConfig struct {
	localcluster.Config
	detach bool
	add    int
	log    daemon.LogConfig
}

// newClusterUp starts the daemons as processes of this binary, and asks the masters until
// all tasknodes have joined. With --detach it then exits with 0. Without --detach it waits
// until the cluster ends: 0 after Ctrl-C, 1 if a daemon ends by itself, 130 if it is
// interrupted while the cluster starts.
func newClusterUp() *cobra.Command {
	cfg := upConfig{Config: localcluster.Config{MapSlots: 2, ReduceSlots: 1}}
	cmd := &cobra.Command{
		Use:   "up --dir DIR [--masters N] [--tasknodes N] [--detach]",
		Short: "Start a whole cluster on this machine",
		Long: `Start a whole cluster on this machine, each daemon in its own process, and print
the addresses of its masters. All files are in DIR: logs, cluster.json for
programs, the token, and the daemons' files. If DIR has a cluster already, it is
started again; if that cluster runs, only its missing daemons are started. A DIR
of another user, or one that others can write to, is refused.

The cluster ends with this command, at Ctrl-C; with --detach it runs until
'hammr down'.`,
		Example: `  hammr up --dir ~/hammr-cluster --masters 3 --tasknodes 4 --detach
  hammr up --dir ~/hammr-cluster --add 2
  export HAMMR_MASTER=$(hammr up --dir ~/hammr-cluster --detach)`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&cfg.Dir, "dir", "", "`directory` of all files of the cluster")
	flags.IntVar(&cfg.Masters, "masters", 1, "`number` of jobmasters: 1, 3 or 5")
	flags.IntVar(&cfg.Tasknodes, "tasknodes", 0, "`number` of tasknodes (default as many as --addresses, else 1)")
	flags.IntVar(&cfg.MapSlots, "map-slots", cfg.MapSlots, "`number` of map tasks that a tasknode runs at once")
	flags.IntVar(&cfg.ReduceSlots, "reduce-slots", cfg.ReduceSlots, "`number` of reduce tasks that a tasknode runs at once")
	flags.StringSliceVar(&cfg.Addresses, "addresses", nil, "`addresses` of this machine, one for each tasknode, joined by commas")
	flags.StringSliceVar(&cfg.MasterHosts, "master-addresses", nil, "`addresses` of this machine, one for each jobmaster, on which all ports are free, joined by commas")
	flags.StringSliceVar(&cfg.Namespaces, "namespaces", nil, "network `namespaces` of 'ip netns', one for each tasknode, joined by commas")
	flags.IntVar(&cfg.add, "add", 0, "`number` of tasknodes to add to the cluster of DIR")
	flags.BoolVar(&cfg.detach, "detach", false, "exit when the cluster is ready and leave it running")
	// Flags of the daemons: prepare passes on those that are given, as they are typed, so they
	// have no variables here.
	flags.Duration("expiry", 0, "`silence` after which a tasknode is lost (default hammr.tasknode.expiry, 10 s)")
	flags.Duration("forget", 0, "`time` to remember a lost tasknode (default 24h)")
	flags.Duration("heartbeat", 0, "`time` between two heartbeats of a tasknode (default 1s)")
	flags.String("initial-policy", launch.InitialPolicy, "scheduling policy of a new cluster, as `name,setting=value,...`; fifo is Hadoop's default")
	flags.String("pools", "", "`pools` that jobs may be put into in addition to default, joined by commas")
	flags.Bool("pprof", false, "serve Go's profiles at /debug/pprof/ of each daemon's page")
	for _, s := range cfg.log.Settings() {
		if s.Name != "log-file" { // each daemon has its own
			flags.String(s.Name, s.Default, s.Usage)
		}
	}
	required(cmd, "dir")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cfg.prepare(cmd); err != nil {
			return err
		}
		return untilSignal(func(ctx context.Context) error { return clusterUp(ctx, cfg, cmd.OutOrStdout(), cmd.ErrOrStderr()) })
	}
	return cmd
}

// prepare completes the configuration, passes flags on to the daemons, and checks everything
// that it can before a process starts. Flags that the user has not set are not passed on, so
// the daemons' own defaults hold. With --add the cluster exists, so the user gives only the
// number of new tasknodes.
func (c *upConfig) prepare(cmd *cobra.Command) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	c.Program = []string{self}
	c.Detach = c.detach || c.add > 0
	// Daemons parse their flags themselves.
	pass := func(to *[]string, name string) {
		if f := cmd.Flags().Lookup(name); f.Changed {
			*to = append(*to, "--"+name+"="+daemonText(f.Value))
		}
	}
	pass(&c.MasterFlags, "expiry")
	pass(&c.MasterFlags, "forget")
	pass(&c.MasterFlags, "pools")
	c.MasterFlags = append(c.MasterFlags, "--initial-policy="+cmd.Flags().Lookup("initial-policy").Value.String())
	pass(&c.TasknodeFlags, "heartbeat")
	for _, to := range []*[]string{&c.MasterFlags, &c.TasknodeFlags} {
		for _, name := range []string{"pprof", "log-format", "log-level", "log-max-size", "log-keep"} {
			pass(to, name)
		}
	}
	if c.add < 0 {
		return fmt.Errorf("--add %d: expected a number of at least 1", c.add)
	}
	if c.MapSlots < 1 || c.ReduceSlots < 1 {
		return fmt.Errorf("--map-slots %d, --reduce-slots %d: a tasknode has at least one of each", c.MapSlots, c.ReduceSlots)
	}
	if cmd.Flags().Changed("add") && (cmd.Flags().Changed("masters") || cmd.Flags().Changed("tasknodes")) {
		return errors.New("--add excludes --masters and --tasknodes")
	}
	checked := c.Config
	checked.EnsureDefaults()
	if c.add > 0 {
		checked.Tasknodes = c.add
	}
	return checked.Validate()
}

// daemonText returns the value of a flag in the syntax of the daemons' settings. The syntax
// has no fractions and no sums: 2.5s is 2500ms, and 1m30s is 90000ms.
func daemonText(v pflag.Value) string {
	if d, err := time.ParseDuration(v.String()); err == nil && v.Type() == "duration" {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return v.String()
}

// clusterUp prints the masters on stdout, for scripts, and the rest on stderr:
// HAMMR_MASTER=$(hammr up --detach …) works. In the foreground it returns when the cluster has
// ended, and removes the user's token and control groups.
func clusterUp(ctx context.Context, cfg upConfig, stdout, stderr io.Writer) error {
	start := time.Now()
	var c *localcluster.Cluster
	var err error
	if cfg.add > 0 {
		c, err = localcluster.Add(ctx, cfg.Config, cfg.add)
	} else {
		c, err = localcluster.Up(ctx, cfg.Config)
	}
	switch {
	// Ctrl-C interrupted the start of the cluster.
	case err != nil && errors.Is(err, context.Canceled):
		return exitError(exitInterrupted) // the daemons are stopped
	case err != nil:
		return err
	}
	// The cluster runs without the copy; commands then need another flag.
	token, err := filepath.Abs(filepath.Join(cfg.Dir, localcluster.TokenFile))
	if err != nil {
		return err
	}
	if err := keepToken(token, c.State.ID, c.State.Addresses()); err != nil {
		fmt.Fprintf(stderr, "Clients need --token-file %s: %v\n", hostfile.Word(token), err)
	}
	fmt.Fprintln(stdout, strings.Join(c.State.Addresses(), ","))
	fmt.Fprintf(stderr, "%d masters and %d tasknodes are ready after %v.\nPages: http://%s (sign in with the token in %s)\nTo use them:\n%s",
		len(c.State.Masters), len(c.State.Tasknodes), time.Since(start).Round(10*time.Millisecond), c.State.Masters[0].HTTP, token,
		useText(c.State.Addresses(), token))
	if cfg.Detach {
		fmt.Fprintf(stderr, "  hammr down --dir %s\n", hostfile.Word(cfg.Dir))
		c.Release()
		return nil
	}
	fmt.Fprintln(stderr, "Ctrl-C ends the cluster.")
	err = c.Wait(ctx, func(name, end string) { fmt.Fprintf(stderr, "%s ended: %s\n", name, end) })
	return errors.Join(err, removeCgroups(&c.State), forgetToken(c.State.ID))
}

// useText returns the commands that use a cluster which is ready.
func useText(masters []string, tokenFile string) string {
	return fmt.Sprintf(`export HAMMR_MASTER=%s
export HAMMR_TOKEN_FILE=%s
  hammr run wordcount IN OUT
  hammr node list
`, strings.Join(masters, ","), hostfile.Quote(tokenFile))
}

// keepToken saves a copy of the token for the user, where commands look for it by the masters'
// addresses. So commands on this cluster need no --token-file.
func keepToken(tokenFile, clusterID string, masters []string) error {
	token, err := rpc.ReadToken(tokenFile)
	if err != nil {
		return err
	}
	store, err := rpc.UserTokenStore()
	if err != nil {
		return err
	}
	return store.Save(clusterID, token, masters)
}
