package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	webremote "github.com/hammr/hammr/internal/source/remote"
	"github.com/hammr/hammr/storage"
)

// A verb that asks a cluster, such as `hammr job kill`, is made in these steps:
//
//  1. A constructor newJobKill, in job_kill.go or with similar verbs, passes a
//     cobra.Command with its help to one of three functions:
//     show, for a verb that only reads: it says what to ask and how to print it;
//     clusterCommands.verb with a changeVerb, for a verb that makes a change of
//     docs.Actions to each object it names;
//     clusterCommands.command, for all others.
//     The functions work with a *query, which is the client and the command line.
//  2. The constructor of the noun, here newJob, calls it.
//  3. With --json, show prints a document of internal/docs/apidoc; query.changed
//     prints changes.
//  4. A line in cluster_golden_test.go runs it on the fake cluster.
//
// A change is a row of docs.Actions. Another call that the client lacks goes into
// client.Admin, client/remote, internal/rpc/wire/hammr.proto and jobmaster/server.
//
// All these commands call the jobmaster that leads. They exit with 0 when it has done what
// was asked, with 1 when it refuses or does not answer, with 2 for a wrong command line, and
// with 130 after Ctrl-C. The constructors of commands with other codes document them.

// clusterFlags are the flags that say which cluster a command asks, and in which format it
// prints the answer.
type clusterFlags struct {
	masters   string        // host:port,...; one master that answers is enough
	tokenFile string        // "" for the user's copy, which `hammr up` writes
	timeout   time.Duration // limit of the search for the leader
	json      bool
}

// clusterClient is a cluster as commands see it: the calls for jobs, which programs use too,
// and the calls for its administration. Tests have a fake client.
type clusterClient interface {
	client.Client
	client.Admin
	Close() error
}

// add adds the flags. masters completes the usage of --master, and token is what comes before the user's copy as the
// default of --token-file.
func (f *clusterFlags) add(flags *pflag.FlagSet, masters, token string, timeout time.Duration) {
	flags.StringVar(&f.masters, "master", os.Getenv(rpc.MasterVariable), "addresses of masters, as `host:port,...`"+masters)
	f.addToken(flags, token)
	flags.DurationVar(&f.timeout, "timeout", timeout, "`time` to look for the leader")
	flags.BoolVar(&f.json, "json", false, "print JSON")
}

// addToken adds the flag --token-file.
func (f *clusterFlags) addToken(flags *pflag.FlagSet, token string) {
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the cluster's secret (default "+token+"the copy that 'hammr up' has saved for this user)")
}

// masterSource is the REST API of the masters.
type masterSource interface {
	docs.Source
	Close() error
}

// clusterCommands is the constructor of all commands that ask a cluster. Tests replace its
// fields.
type clusterCommands struct {
	// connect opens a client. While the client looks for the leader, it calls waiting with
	// the reason.
	connect func(f clusterFlags, waiting func(error)) (clusterClient, error)
	// openSource opens the REST API of the masters. The caller calls Close.
	openSource func(f clusterFlags) (masterSource, error)
	// zone is the time zone of printed times.
	zone *time.Location
}

// newClusterCommands returns the real commands, which use the network.
func newClusterCommands() clusterCommands {
	return clusterCommands{connect: connectRemote, openSource: openSource, zone: time.Local}
}

// all returns the groups of commands that ask a cluster.
func (r clusterCommands) all() []topCommand {
	return []topCommand{
		{"job", r.newJob}, {"task", r.newTask}, {"node", r.newNode}, {"master", r.newMaster}, {"scheduler", r.newScheduler}, {"queue", r.newQueue},
		{"doctor", r.newDoctor},
	}
}

// query is the state of a running command: the client, the shared flags, and the arguments.
// It lives for one call of the function that was passed to command, on one goroutine.
type query struct {
	clusterClient
	clusterCommands
	flags          clusterFlags
	args           []string
	changes        []apidoc.Change // made so far; printed at the end with --json
	stdout, stderr io.Writer
}

// errNoCluster is an error of the command line.
var errNoCluster = errors.New("no cluster is named; give --master host:port,... or set " + rpc.MasterVariable)

// command returns a command that asks a cluster. It adds the shared flags, opens the client,
// calls run, and prints the changes that run has reported.
func (r clusterCommands) command(cmd *cobra.Command, run func(ctx context.Context, q *query) error) *cobra.Command {
	f := new(clusterFlags)
	f.add(cmd.Flags(), "; one is enough", "", rpc.DefaultTimeout)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		// This is an error of the command line, so the check is outside of interruptible.
		if f.masters == "" {
			return errNoCluster
		}
		return interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			stderr := cmd.ErrOrStderr()
			c, err := r.connect(*f, func(why error) { fmt.Fprintf(stderr, "Still looking: %v\n", why) })
			if err != nil {
				return err
			}
			q := &query{clusterClient: c, clusterCommands: r, flags: *f, args: args, stdout: cmd.OutOrStdout(), stderr: stderr}
			return errors.Join(run(ctx, q), q.flush(), c.Close())
		})(cmd, args)
	}
	return cmd
}

// show returns a command that asks the cluster and prints the answer: as a document with
// --json, else as text.
func show[A any](r clusterCommands, cmd *cobra.Command, ask func(ctx context.Context, q *query) (A, error), text func(*query, A)) *cobra.Command {
	return r.command(cmd, func(ctx context.Context, q *query) error {
		answer, err := ask(ctx, q)
		switch {
		case err != nil:
			return err
		case q.flags.json:
			return q.printJSON(answer)
		}
		text(q, answer)
		return nil
	})
}

// changeVerb is a verb that makes a change of docs.Actions to each object that its arguments name. If one
// object cannot be changed, the command still changes the others and ends with 1.
type changeVerb struct {
	do                        string // row of docs.Actions
	use, short, long, example string
	done                      string // what is printed for an id
}

// verb returns the command of a verb. The id of a task means its running attempts. more may add a flag,
// and returns the check of the flag and the value of the change.
func (r clusterCommands) verb(v changeVerb, more ...func(*cobra.Command) (check func() error, value *string)) *cobra.Command {
	object, _, _ := strings.Cut(v.do, ".")
	cmd := &cobra.Command{Use: v.use, Short: v.short, Long: v.long, Example: v.example}
	check, value := func() error { return nil }, new(string)
	for _, add := range more {
		check, value = add(cmd)
	}
	what := map[string]string{"job": "the id of a job", "attempt": "the id of a task or of an attempt", "node": "the name of a tasknode"}[object]
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := check(); err != nil {
			return err
		}
		return someArgs(what)(cmd, args)
	}
	return r.command(cmd, func(ctx context.Context, q *query) error {
		each := q.forEach
		if object == "attempt" {
			each = func(do func(string) error) error { return q.forEachAttempt(ctx, do) }
		}
		return each(func(id string) error { return q.change(ctx, wire.NewChange(v.do, id, *value), v.done, id) })
	})
}

// change makes a change of docs.Actions and reports it.
func (q *query) change(ctx context.Context, c *wire.ChangeRequest, format string, args ...any) error {
	done, err := q.Change(ctx, c)
	what, _, _ := strings.Cut(c.Do, ".")
	if what == "attempt" {
		what = "task"
	}
	return q.changed(err, what, apidoc.Change{ID: c.Id, Done: done.GetDone(), To: done.GetTo()}, format, args...)
}

// connectRemote opens a client over the network. It makes no call yet: the first call finds
// the leader, and waits up to --timeout for one.
func connectRemote(f clusterFlags, waiting func(error)) (clusterClient, error) {
	masters, token, id, err := f.cluster()
	if err != nil {
		return nil, err
	}
	return remote.New(remote.Config{Config: rpc.Config{
		Masters: masters, Token: token, ClusterID: id, Timeout: f.timeout, OnWait: waiting,
	}})
}

// cluster returns the masters' addresses, the secret, and the id of the cluster. The id is
// "" if the secret's file does not contain it.
func (f clusterFlags) cluster() (masters []string, token, id string, err error) {
	if masters, err = rpc.ParseMasters(f.masters); err != nil {
		return nil, "", "", err
	}
	token, id, err = rpc.FindToken(f.tokenFile, masters)
	return masters, token, id, err
}

// openSource opens the REST API of the masters, which any of them answers.
func openSource(f clusterFlags) (masterSource, error) {
	masters, token, id, err := f.cluster()
	if err != nil {
		return nil, err
	}
	return webremote.New(webremote.Config{RPC: rpc.Config{Masters: masters, Token: token, ClusterID: id}})
}

// openFiles opens the file systems of this machine's configuration.
func openFiles(stderr io.Writer) (*storage.Router, error) {
	c, err := genericOptions{}.load(stderr)
	if err != nil {
		return nil, err
	}
	return fsconf.NewInteractiveRouter(c, warnLogger(stderr))
}

// printJSON prints a document on stdout.
func (q *query) printJSON(doc any) error { return writeJSON(q.stdout, doc) }

// writeJSON writes a document with indentation. It does not escape HTML: names of jobs are
// printed as they are. The document of a job has its own encoder, which adds the version and
// replaces nulls by empty lists, because `--report` files have the same format.
func writeJSON(w io.Writer, doc any) error {
	if s, ok := doc.(*wire.JobStatus); ok {
		text, err := apidoc.Report(s).Marshal()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// changed reports a change that a call has made, or returns the call's error. If the object
// does not exist, the error has Hadoop's words. It prints text at once, so that an
// interrupted command has shown its changes. JSON is one list at the end of the command.
// what and c.ID name the object in an error; format and args are the text.
func (q *query) changed(err error, what string, c apidoc.Change, format string, args ...any) error {
	if err != nil {
		return knownAs(what, c.ID, err)
	}
	if q.changes = append(q.changes, c); !q.flags.json {
		fmt.Fprintf(q.stdout, format+"\n", args...)
	}
	return nil
}

// flush prints the changes that changed has kept for JSON. It also runs after a failure,
// because some of the objects may have been changed.
func (q *query) flush() error {
	if !q.flags.json || len(q.changes) == 0 {
		return nil
	}
	return q.printJSON(q.changes)
}

// time formats ms since the epoch in the zone of this machine. It returns "-" for 0, the
// value of times that have not come yet.
func (q *query) time(millis int64) string {
	if millis == 0 {
		return "-"
	}
	return time.UnixMilli(millis).In(q.zone).Format("2006-01-02 15:04:05")
}

// forEach calls do for every argument, one after the other, and returns all errors. After a
// failure it continues with the next argument.
func (q *query) forEach(do func(arg string) error) error {
	var errs []error
	for _, arg := range q.args {
		errs = append(errs, do(arg))
	}
	return errors.Join(errs...)
}

// notFound is the error for a job, task, node, master or queue that does not exist. It has
// Hadoop's words, because scripts search for them. The error for a job also says where to
// look.
type notFound struct{ what, id string }

func (e notFound) Error() string {
	if e.what == "job" {
		return fmt.Sprintf("Could not find job %s; 'hammr job list --all' lists known jobs. Histories of older ones are kept for the masters' --retention", e.id)
	}
	return fmt.Sprintf("Could not find %s %s", e.what, e.id)
}

// knownAs replaces the client's error for something unknown by notFound; it returns other
// errors, and nil, as they are. The error for a master stays too: it lists the masters.
func knownAs(what, id string, err error) error {
	if what == "master" {
		return err
	}
	if errors.Is(err, client.ErrUnknown) {
		return notFound{what, id}
	}
	return err
}
