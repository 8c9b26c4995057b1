package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/storage"
)

// A verb that asks a cluster, such as `hammr job kill`, is made in these steps:
//
//  1. A constructor newJobKill, in job_kill.go or with its kin, passes a
//     cobra.Command with its help to clusterCommands.command. The function beside
//     it does the work with a *query, which is the client and the command line.
//  2. The constructor is listed in that of its noun, here newJob.
//  3. What it reads is printed by query.answer: a document of internal/apidoc as
//     JSON, or text. What it changes is printed by query.report.
//  4. A line in cluster_golden_test.go runs it on the fake cluster.
//
// A call that the client lacks goes into client.Admin, client/remote,
// internal/wire/hammr.proto and jobmaster/server.

// clusterFlags say which cluster a command asks, and in which form it answers.
type clusterFlags struct {
	masters   string
	tokenFile string
	timeout   time.Duration
	json      bool
}

// clusterClient is a cluster as commands see it.
type clusterClient interface {
	client.Client
	client.Admin
	Close() error
}

// clusterCommands makes the commands that ask a cluster. Tests replace its fields.
type clusterCommands struct {
	// connect opens a client. It calls waiting with the reason while it looks for the
	// leader.
	connect func(f clusterFlags, waiting func(error)) (clusterClient, error)
	// openFiles opens the file systems of logs.
	openFiles func(stderr io.Writer) (*storage.Router, error)
	// fetchLog reads a log of a running attempt from the page of its tasknode.
	fetchLog func(ctx context.Context, f clusterFlags, page, attempt, stream string) (string, error)
	// zone is the time zone of printed times.
	zone *time.Location
}

func newClusterCommands() clusterCommands {
	return clusterCommands{connect: connectRemote, openFiles: openFiles, fetchLog: fetchLog, zone: time.Local}
}

// all are the nouns: commands whose verbs ask a cluster.
func (r clusterCommands) all() []*cobra.Command {
	return []*cobra.Command{r.newJob(), r.newTask(), r.newNode(), r.newMaster(), r.newScheduler(), r.newQueue()}
}

// query is a command that runs.
type query struct {
	clusterClient
	clusterCommands
	flags          clusterFlags
	args           []string
	changes        []apidoc.Change // reported so far
	stdout, stderr io.Writer
}

// errNoCluster is an error of the command line.
var errNoCluster = errors.New("no cluster is named; give --master host:port,... or set " + rpc.MasterVariable)

// command makes a command that asks a cluster.
func (r clusterCommands) command(cmd *cobra.Command, run func(ctx context.Context, q *query) error) *cobra.Command {
	f := new(clusterFlags)
	cmd.Flags().StringVar(&f.masters, "master", os.Getenv(rpc.MasterVariable), "addresses of masters, as `host:port,...`; one is enough")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "`file` with the cluster's secret (default the user's copy)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", rpc.DefaultTimeout, "`time` to look for the leader")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.masters == "" {
			return errNoCluster
		}
		return interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return r.run(ctx, cmd, *f, args, run)
		})(cmd, args)
	}
	return cmd
}

func (r clusterCommands) run(ctx context.Context, cmd *cobra.Command, f clusterFlags, args []string, run func(context.Context, *query) error) error {
	stderr := cmd.ErrOrStderr()
	c, err := r.connect(f, func(why error) { fmt.Fprintf(stderr, "Still looking: %v\n", why) })
	if err != nil {
		return err
	}
	q := &query{clusterClient: c, clusterCommands: r, flags: f, args: args, stdout: cmd.OutOrStdout(), stderr: stderr}
	err = run(ctx, q)
	return errors.Join(err, q.flush(), c.Close())
}

// connectRemote opens a client over the network.
func connectRemote(f clusterFlags, waiting func(error)) (clusterClient, error) {
	masters, err := rpc.ParseMasters(f.masters)
	if err != nil {
		return nil, err
	}
	token, id, err := rpc.FindToken(f.tokenFile, masters)
	if err != nil {
		return nil, err
	}
	return remote.New(remote.Config{Config: rpc.Config{
		Masters: masters, Token: token, ClusterID: id, Timeout: f.timeout, OnWait: waiting,
	}})
}

func openFiles(stderr io.Writer) (*storage.Router, error) {
	c, err := genericOptions{}.load(stderr)
	if err != nil {
		return nil, err
	}
	return fsconf.NewRouter(c, warnLogger(stderr))
}

// answer prints a value as JSON with --json, else as text.
func (q *query) answer(value any, text func(w io.Writer)) error {
	if !q.flags.json {
		text(q.stdout)
		return nil
	}
	e := json.NewEncoder(q.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// report prints a change: as text at once, as JSON in one list at the end.
func (q *query) report(c apidoc.Change, format string, args ...any) {
	if q.changes = append(q.changes, c); !q.flags.json {
		fmt.Fprintf(q.stdout, format+"\n", args...)
	}
}

// flush prints the changes that report has kept for JSON.
func (q *query) flush() error {
	if !q.flags.json || len(q.changes) == 0 {
		return nil
	}
	return q.answer(q.changes, nil)
}

// time formats ms since the epoch, "-" for 0.
func (q *query) time(millis int64) string {
	if millis == 0 {
		return "-"
	}
	return time.UnixMilli(millis).In(q.zone).Format("2006-01-02 15:04:05")
}

// forEach calls do for every argument and reports all errors.
func (q *query) forEach(do func(arg string) error) error {
	var errs []error
	for _, arg := range q.args {
		errs = append(errs, do(arg))
	}
	return errors.Join(errs...)
}

// notFound has Hadoop's words for a job, task, node, master or queue that does not
// exist.
type notFound struct{ what, id string }

func (e notFound) Error() string {
	if e.what == "job" {
		return fmt.Sprintf("Could not find job %s; 'hammr job list --all' lists known jobs. Histories of older ones are kept for the masters' --retention", e.id)
	}
	return fmt.Sprintf("Could not find %s %s", e.what, e.id)
}

// knownAs replaces the client's error for something unknown by notFound.
func knownAs(what, id string, err error) error {
	if errors.Is(err, client.ErrUnknown) || errors.Is(err, client.ErrUnknownJob) {
		return notFound{what, id}
	}
	return err
}

// someArgs is for commands with one or more arguments, which the error calls what.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
}

// priorities are Hadoop's names of priorities.
var priorities = map[string]int{"VERY_LOW": -2, "LOW": -1, "NORMAL": 0, "DEFAULT": 0, "HIGH": 1, "VERY_HIGH": 2}
