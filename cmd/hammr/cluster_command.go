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

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/fsconf"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/storage"
)

// clusterFlags say which cluster a command asks, and how it answers.
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

// clusterCommands makes the commands that ask a cluster.
type clusterCommands struct {
	// connect finds a cluster. waiting hears why its leader is not found yet.
	connect func(f clusterFlags, waiting func(error)) (clusterClient, error)
	// openFiles opens the file systems that logs lie in.
	openFiles func(stderr io.Writer) (*storage.Router, error)
	// fetchLog reads a log of an attempt that runs, from the page of its
	// tasknode.
	fetchLog func(ctx context.Context, f clusterFlags, page, attempt, stream string) (string, error)
	// zone is where the user reads clocks.
	zone *time.Location
}

func newClusterCommands() clusterCommands {
	return clusterCommands{connect: connectRemote, openFiles: openFiles, fetchLog: fetchLog, zone: time.Local}
}

// all are all commands that ask a cluster.
func (r clusterCommands) all() []*cobra.Command {
	return []*cobra.Command{r.newJob(), r.newTask(), r.newNode(), r.newMaster(), r.newScheduler(), r.newQueue()}
}

// query is one command under way.
type query struct {
	clusterClient
	clusterCommands
	flags          clusterFlags
	args           []string
	changes        []change
	stdout, stderr io.Writer
}

// errNoCluster is one of the command line.
var errNoCluster = errors.New("no cluster is named; give --master host:port,... or set " + rpc.MasterVariable)

// command makes a command that asks a cluster.
func (r clusterCommands) command(cmd *cobra.Command, run func(ctx context.Context, q *query) error) *cobra.Command {
	f := new(clusterFlags)
	cmd.Flags().StringVar(&f.masters, "master", os.Getenv(rpc.MasterVariable), "addresses of masters, as `host:port,...`; one is enough")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "`file` with the cluster's secret (default the user's copy)")
	cmd.Flags().DurationVar(&f.timeout, "timeout", rpc.DefaultTimeout, "how `long` to look for a master that leads")
	cmd.Flags().BoolVar(&f.json, "json", false, "answer in JSON")
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

// connectRemote finds a cluster over the network.
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

// answer shows a value as JSON if that is wanted, else as text.
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

// change is something that a command has changed, as JSON.
type change struct {
	ID   string `json:"id"`   // of what was changed
	Done string `json:"done"` // with it, as in "killed"
	To   string `json:"to,omitempty"`
}

// report tells what was done: in words at once, as JSON in one list at the end.
func (q *query) report(d change, format string, args ...any) {
	if q.changes = append(q.changes, d); !q.flags.json {
		fmt.Fprintf(q.stdout, format+"\n", args...)
	}
}

// flush is the end of a command that has changed something.
func (q *query) flush() error {
	if !q.flags.json || len(q.changes) == 0 {
		return nil
	}
	return q.answer(q.changes, nil)
}

// time is a time as people read it, "-" for none.
func (q *query) time(millis int64) string {
	if millis == 0 {
		return "-"
	}
	return time.UnixMilli(millis).In(q.zone).Format("2006-01-02 15:04:05")
}

// forEach does something for every argument, and tells of all that went wrong.
func (q *query) forEach(do func(arg string) error) error {
	var faults []error
	for _, arg := range q.args {
		faults = append(faults, do(arg))
	}
	return errors.Join(faults...)
}

// notFound says in Hadoop's words that there is no such thing.
type notFound struct{ what, id string }

func (e notFound) Error() string {
	if e.what == "job" {
		return fmt.Sprintf("Could not find job %s; 'hammr job list --all' names jobs that are known. A history of older ones stays for the masters' --retention", e.id)
	}
	return fmt.Sprintf("Could not find %s %s", e.what, e.id)
}

// someArgs is for commands that take one argument, what, or more.
func someArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("%s is missing", what)
		}
		return nil
	}
}

// priorities are Hadoop's words, from -2 to 2.
var priorities = map[string]int{"VERY_LOW": -2, "LOW": -1, "NORMAL": 0, "DEFAULT": 0, "HIGH": 1, "VERY_HIGH": 2}
