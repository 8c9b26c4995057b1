package allocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/suspend"
)

// Config says what runs in an allocation.
type Config struct {
	// Allocation is what the scheduler has given. Required.
	Allocation *Allocation
	// Launcher starts commands on its nodes. Required.
	Launcher Launcher
	// Program is the command line of this program on the nodes. Required.
	Program []string
	// Serve are the arguments with which Program calls Serve. Required.
	Serve []string
	// State is the directory that outlives the allocation, on a file system that all nodes see,
	// as an absolute path. Required.
	State string
	// Staging is the full name of the directory for programs and splits. Default in State.
	Staging string
	// LocalDir is a directory of each node for local files; it may have $VARIABLES of the node.
	// Default its directory for temporary files.
	LocalDir string
	// Shared keeps local files in State, so that they need not be copied. Default false.
	Shared bool
	// Masters is the number of jobmasters: 1 or 3. Default 1.
	Masters int
	// Settings are settings of daemons: jobmaster.NAME=VALUE or tasknode.NAME=VALUE.
	Settings []string
	// Notice is how long before the end of the allocation the jobs are suspended and saved at the
	// latest. Default 2 min.
	Notice time.Duration
	// Command is the user's program with its arguments. Required.
	Command []string
	// Name is how the manifest names Command. Default Command.
	Name []string
	// Suspend receives why the jobs are to be suspended and saved now. Default never.
	Suspend <-chan string
	// Connect opens a client of the masters. Required.
	Connect func(masters []string, token string) (Admin, error)
	// Starter starts the user's program. Required.
	Starter *procfs.Starter
	// Stdin, Stdout and Stderr are those of the user's program; Stderr also gets the progress.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Admin is what Run asks the masters; client.Admin has the contracts of its methods.
type Admin interface {
	suspend.Masters
	Backup(ctx context.Context, to io.Writer) error
	Close() error
}

// EnsureDefaults replaces zero fields by their defaults.
func (c *Config) EnsureDefaults() {
	if c.Masters == 0 {
		c.Masters = 1
	}
	if c.Notice == 0 {
		c.Notice = 2 * time.Minute
	}
	if c.Name == nil {
		c.Name = c.Command
	}
	if c.Staging == "" {
		c.Staging = "file://" + c.State + "/staging"
	}
}

// Validate reports every error at once.
func (c *Config) Validate() error {
	_, err := c.settings()
	return errors.Join(err,
		validate.That(c.Masters == 1 || c.Masters == 3, "--masters %d: expected 1 or 3", c.Masters),
		validate.That(c.Masters <= len(c.Allocation.Nodes), "--masters %d: the allocation has %d nodes", c.Masters, len(c.Allocation.Nodes)),
		validate.That(c.Notice >= minNotice, "--save-before %v: expected at least %v", c.Notice, minNotice),
		validate.That(!c.Shared || c.LocalDir == "", "--local-dir and --local-in-state exclude each other"),
	)
}

// Outcome is how Run has ended.
type Outcome struct {
	Saved bool // the program is to be continued in another allocation
	Code  int  // exit code of the program, if it has ended
}

// runner runs one allocation. Its methods are called by one goroutine, unless they say otherwise.
type runner struct {
	cfg       Config
	state     *stateDir
	manifest  *manifest
	notice    time.Duration // as cfg.Notice, or what the last saving took
	stderr    *sharedWriter
	machines  []*machine // by node
	tasknodes []*placed
	cluster   launch.Cluster // its masters are those that were started
	token     string         // file of the secret
	admin     Admin          // nil until masters serve
	program   *program       // nil until it runs
	lost      chan error
	closing   atomic.Bool
}

// Run runs a program on a cluster of its own in an allocation. It returns when the program has
// ended, or when its jobs are saved. All that it has started has ended then.
//
// If the state directory has saved jobs, they continue.
func Run(ctx context.Context, cfg Config) (out Outcome, err error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return out, err
	}
	r := &runner{cfg: cfg, stderr: &sharedWriter{to: cfg.Stderr}, lost: make(chan error, 1)}
	if r.state, err = openState(ctx, cfg.State); err != nil {
		return out, err
	}
	defer r.state.close()
	if r.manifest, err = r.state.read(cfg.Name); err != nil {
		return out, err
	}
	r.cluster = launch.Cluster{ID: r.manifest.Cluster, Staging: cfg.Staging}
	if err := r.checkTime(time.Now()); err != nil {
		return out, err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	out, err = r.run(running)
	return out, errors.Join(err, r.close(out, err))
}

// run starts the cluster and the program, and waits for the end of the program or for the time to
// save.
func (r *runner) run(ctx context.Context) (out Outcome, err error) {
	if err := r.start(ctx); err != nil {
		return out, err
	}
	if r.program, err = r.startProgram(); err != nil {
		return out, err
	}
	why, err := r.await(ctx)
	switch {
	case err != nil:
		return out, errors.Join(err, r.whatIsSaved())
	case why == "":
		return Outcome{Code: r.program.code()}, r.report(ctx)
	}
	r.note("%s: suspending all jobs and saving them to %s", why, r.cfg.State)
	if err := r.save(ctx); err != nil {
		return out, errors.Join(fmt.Errorf("nothing was saved: %w", err), r.whatIsSaved())
	}
	return Outcome{Saved: true}, nil
}

// await returns when the program has ended, with "", or when it is time to save, with the reason.
func (r *runner) await(ctx context.Context) (why string, err error) {
	var due <-chan time.Time
	if end := r.cfg.Allocation.End; !end.IsZero() {
		timer := time.NewTimer(time.Until(end.Add(-r.notice)))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-r.program.Exited:
		return "", nil
	case why = <-r.cfg.Suspend:
		return why, nil
	case <-due:
		return fmt.Sprintf("the allocation ends in %v", r.notice.Round(time.Second)), nil
	case err := <-r.lost:
		return "", err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// whatIsSaved says from where the next allocation continues after an error; nil if that is the
// beginning.
func (r *runner) whatIsSaved() error {
	if r.manifest.Generation == 0 {
		return nil
	}
	return fmt.Errorf("%s has what job %s has saved at %s; run the same command again to continue from there",
		r.cfg.State, r.manifest.Job, r.manifest.SavedAt.Format(time.DateTime))
}

// close ends all that runs. If the program has ended, the state is removed.
func (r *runner) close(out Outcome, failed error) error {
	r.closing.Store(true)
	var errs []error
	if r.program != nil {
		r.program.kill()
	}
	if r.admin != nil {
		errs = append(errs, r.admin.Close(), os.RemoveAll(r.state.mastersFile()))
	}
	err := syncutil.Each(r.machines, 0, func(m *machine) error { return m.close() })
	if failed != nil || out.Saved {
		// What matters is done; a step that has not ended well is ended by the scheduler.
		if err != nil {
			r.note("%v", err)
		}
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, err, r.state.finish())...)
}

// note prints a line of progress. Any goroutine may call it.
func (r *runner) note(format string, args ...any) {
	fmt.Fprintf(r.stderr, "hammr: "+format+"\n", args...)
}

// daemonEnded handles a daemon that has ended by itself, or with "" the end of a node's step. The
// goroutine of a connection calls it.
func (r *runner) daemonEnded(node int, daemon, cause string) {
	if r.closing.Load() {
		return
	}
	host := r.cfg.Allocation.Nodes[node].Host
	if daemon == "" {
		daemon = "the step"
	}
	r.note("%s on node %s has ended: %s", daemon, host, cause)
	hasMaster := node == 0 && (daemon == launch.MasterName(0) || daemon == "the step")
	if hasMaster && r.cfg.Masters == 1 {
		select {
		case r.lost <- fmt.Errorf("the only jobmaster has ended; its log is in %s: %s", r.state.path("logs"), cause):
		default:
		}
	}
}

// minNotice is the shortest Config.Notice, and the least time that is kept for saving.
const minNotice = 5 * time.Second

// startTime is what the start of a cluster takes at most, on machines that are not overloaded.
const startTime = 10 * time.Second

// checkTime decides how long before the end of the allocation the jobs are saved. It refuses an
// allocation that is too short to restore and to save.
func (r *runner) checkTime(now time.Time) error {
	r.notice = r.cfg.Notice
	m := r.manifest
	suspended, copied := time.Duration(m.SuspendMS)*time.Millisecond, time.Duration(m.CopyMS)*time.Millisecond
	figures := fmt.Sprintf("the last time, suspending took %v and saving %v", suspended.Round(100*time.Millisecond), copied.Round(100*time.Millisecond))
	if m.Generation == 0 {
		figures = "nothing is saved yet, so --save-before counts"
	} else if need := (suspended+copied)*3/2 + minNotice; need > r.notice {
		r.note("saving begins %v before the end of the allocation instead of --save-before %v: %s", need.Round(time.Second), r.notice, figures)
		r.notice = need
	}
	end := r.cfg.Allocation.End
	if end.IsZero() {
		r.note("%s does not say when job %s ends: only a signal lets its jobs be saved", r.cfg.Allocation.Scheduler, r.cfg.Allocation.Job)
		return nil
	}
	if left, need := end.Sub(now), startTime+copied+r.notice; left < need {
		return fmt.Errorf("job %s ends in %v, which is too short: %v to start and restore, and %v to save (%s); ask for more time than %v",
			r.cfg.Allocation.Job, left.Round(time.Second), (startTime + copied).Round(time.Second), r.notice.Round(time.Second), figures, need.Round(time.Second))
	}
	return nil
}

// placed is a tasknode and where it runs.
type placed struct {
	name  string
	node  int            // index of the allocation's nodes
	share int            // number of tasknodes on that node
	saved *savedTasknode // nil if it is new
}

// placeTasknodes says which tasknodes run on which of some nodes: n1 on the first one and so on. If there
// are more saved tasknodes with files than nodes, some nodes run several.
func placeTasknodes(nodes int, saved []savedTasknode) (all []*placed) {
	byName := make(map[string]*savedTasknode)
	last := nodes
	for i, s := range saved {
		byName[s.Name] = &saved[i]
		var number int
		if _, err := fmt.Sscanf(s.Name, "n%d", &number); err == nil && (s.Shared || s.Tree.Files > 0) {
			last = max(last, number)
		}
	}
	shares := make([]int, nodes)
	for i := range last {
		p := &placed{name: launch.TasknodeName(i), node: i % nodes}
		p.saved = byName[p.name]
		if i >= nodes && (p.saved == nil || !p.saved.Shared && p.saved.Tree.Files == 0) {
			continue
		}
		shares[p.node]++
		all = append(all, p)
	}
	for _, p := range all {
		p.share = shares[p.node]
	}
	return slices.Clip(all)
}
