package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/ops/doctor"
	"github.com/hammr/hammr/internal/rpc"
)

// doctorFlags are the flags of `hammr doctor`. Those of clusterFlags are optional without --cluster.
type doctorFlags struct {
	clusterFlags
	cluster              bool
	configs, dirs, users []string
	reach                []string
	options              doctor.Options
}

// doctorTimeout is how long doctor looks for the leader. Without one, it reports what the masters answer.
const doctorTimeout = 10 * time.Second

// newDoctor examines this machine, and asks a cluster only with --cluster. It exits with 1 if a check has found a
// fault, and with 0 if all others are warnings at most.
func (r clusterCommands) newDoctor() *cobra.Command {
	f := new(doctorFlags)
	cmd := &cobra.Command{
		Use:   "doctor [--cluster] [--config FILE]... [--fix]",
		Short: "Examine this machine and a cluster for common faults",
		Long: `Examine this machine for common faults, as a machine for the daemons of --config
or as one of a client. With --cluster also examine the cluster: its masters,
tasknodes and their ports, as this machine reaches them.

The result is ok, skipped, warn or fault for each subject of each check, with a
remedy. The exit code is 1 if there is a fault. --fix makes changes that harm
nothing: it sets the mode of a token's file and makes directories. Without
--fix, checks make only files in the directories and remove them, and listen on
ports for a moment. Run it as the user who runs the daemons.

Checks:
` + checkList(),
		Example: `  hammr doctor --config /etc/hammr/tasknode.yaml --user alice
  hammr doctor --cluster --master a,b,c --token-file token
  hammr doctor --dir /data1 --dir /data2 --only disk-space,disk-latency
  hammr cluster doctor --hostfile hosts`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.cluster, "cluster", false, "also examine the cluster of --master")
	flags.StringArrayVar(&f.configs, "config", nil, "YAML `file` of a daemon of this machine; may be repeated (default HAMMR_CONFIG, else jobmaster.yaml and tasknode.yaml in /etc/hammr)")
	flags.StringArrayVar(&f.dirs, "dir", nil, "further `directory` to examine; may be repeated")
	flags.StringArrayVar(&f.users, "user", nil, "`name` of a user who submits jobs; may be repeated")
	flags.StringSliceVar(&f.reach, "reach", nil, "addresses that should accept connections from this machine, as `host:port,...`")
	flags.StringSliceVar(&f.options.Only, "only", nil, "`names` of checks to run, joined by commas (default all)")
	flags.StringSliceVar(&f.options.Skip, "skip", nil, "`names` of checks to leave out, joined by commas")
	flags.BoolVar(&f.options.Fix, "fix", false, "remove the causes of faults, where that harms nothing")
	f.add(flags, " (default those of --config)", "that of --config, else ", doctorTimeout)
	for _, flag := range []string{"only", "skip"} {
		completes(cmd, flag, checkNames())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := f.target(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		return interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			return r.doctor(ctx, f, t, cmd.OutOrStdout(), cmd.ErrOrStderr())
		})(cmd, args)
	}
	return cmd
}

func checkNames() (names []string) {
	for _, c := range doctor.Checks() {
		names = append(names, c.Name)
	}
	return names
}

// checkList lists the checks for the help.
func checkList() string {
	var b strings.Builder
	for _, c := range doctor.Checks() {
		name := c.Name
		if c.Cluster {
			name += " *"
		}
		fmt.Fprintf(&b, "  %-17s  %s\n", name, c.About)
	}
	return b.String() + "* with --cluster"
}

// target returns what is examined. Its errors are those of the command line.
func (f *doctorFlags) target(stderr io.Writer) (*doctor.Target, error) {
	if err := f.options.Validate(); err != nil {
		return nil, err
	}
	for _, address := range f.reach {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, fmt.Errorf("--reach %s: expected host:port", address)
		}
	}
	t := doctor.NewTarget()
	t.Version, t.Dirs, t.Users, t.Reach = buildVersion(), f.dirs, f.users, f.reach
	t.Conf, t.ConfWarnings, t.ConfErr = conf.Load(conf.Sources{})
	if t.ConfErr == nil {
		t.ConfErr = t.Conf.Validate()
	}
	for _, file := range daemonFiles(f.configs) {
		t.Daemons = append(t.Daemons, doctor.ReadDaemon(file, t.Conf))
	}
	if f.masters != "" {
		var err error
		if t.Masters, err = rpc.ParseMasters(f.masters); err != nil {
			return nil, err
		}
	}
	if f.tokenFile == "" {
		f.tokenFile = os.Getenv(rpc.TokenFileVariable)
	}
	if f.tokenFile != "" {
		t.TokenFiles = []string{f.tokenFile}
	}
	if f.cluster && len(t.AllMasters()) == 0 {
		return nil, errNoCluster
	}
	return t, nil
}

// doctor runs the checks and prints the report.
func (r clusterCommands) doctor(ctx context.Context, f *doctorFlags, t *doctor.Target, stdout, stderr io.Writer) (err error) {
	if t.ConfErr == nil {
		files, err := fsconf.NewInteractiveRouter(t.Conf, nil)
		if err != nil {
			t.ConfErr = err
		} else {
			t.Resolve = files.Resolve
			defer files.Close() // the files have been closed
		}
	}
	if f.cluster {
		t.View = r.look(ctx, f, t, stderr)
	}
	report := doctor.Run(ctx, t, f.options)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f.json {
		err = writeJSON(stdout, report)
	} else {
		writeReport(stdout, report)
	}
	if err == nil && report.Count(doctor.Fault) > 0 {
		return exitError(exitFailed)
	}
	return err
}

// look asks the cluster. If it cannot be asked, the view has the reason, which a check reports.
func (r clusterCommands) look(ctx context.Context, f *doctorFlags, t *doctor.Target, stderr io.Writer) *doctor.View {
	c := f.clusterFlags
	c.masters = strings.Join(t.AllMasters(), ",")
	for _, d := range t.Daemons {
		if c.tokenFile == "" {
			c.tokenFile = d.TokenFile
		}
	}
	client, err := r.connect(c, func(why error) { fmt.Fprintf(stderr, "Still looking: %v\n", why) })
	if err != nil {
		return &doctor.View{Err: err, TasknodesErr: err}
	}
	defer client.Close() // an error of Close does not change the answers
	toOne := r.toOne(c)
	return doctor.Look(ctx, client, func(address string) (rpc.Asked, error) { return toOne(address) })
}

// writeReport prints a line for each finding, and a second one with the remedy if there is one. The details are in
// the last column, since they have blanks.
func writeReport(w io.Writer, r doctor.Report) {
	width := len("CHECK")
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
	}
	line := func(check, state, text string) { fmt.Fprintf(w, "%-*s  %-7s  %s\n", width, check, state, text) }
	line("CHECK", "STATE", "DETAIL")
	for _, f := range r.Findings {
		line(f.Check, f.State.String(), strings.Map(blankControl, f.Detail))
		switch {
		case f.Remedy != "" && f.Fix != nil:
			line("", "", "remedy: --fix, or "+f.Remedy)
		case f.Remedy != "":
			line("", "", "remedy: "+f.Remedy)
		}
	}
	fmt.Fprintf(w, "%d ok, %d skipped, %d warn, %d fault\n", r.Count(doctor.OK), r.Count(doctor.Skipped), r.Count(doctor.Warn), r.Count(doctor.Fault))
}

// blankControl replaces control characters, which texts of other machines may have.
func blankControl(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
