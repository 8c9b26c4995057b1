package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/bench"
	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/kit/validate"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/local"
)

// Options describe a run of a scenario.
type Options struct {
	Config
	// Hammr is the file of the masters' program. Required.
	Hammr string
	// Dir gets the masters' files. Required.
	Dir string
	// Scenario is one of Scenarios. Required.
	Scenario string
	// Duration is how long a scenario without an end of its own lasts; default 1 min.
	Duration time.Duration
	// Rate is the number of tasks that throughput starts and ends in a second; default 2 for
	// each machine.
	Rate int
	// Tasks is the number of tasks of a scenario with one large job; default that of the
	// goals, in proportion to the machines.
	Tasks int
	// Seed is the seed of all random choices; default 1.
	Seed uint64
	// Profile is the file that gets a CPU profile of the leader; default none.
	Profile string
	// Logs is the directory that gets the masters' logs if something went wrong; default none.
	Logs string
	// MasterFlags are more flags for the masters; default none.
	MasterFlags []string
	// Logf reports what happens; default nothing.
	Logf func(format string, args ...any)
}

// EnsureDefaults sets the fields that are zero to their defaults.
func (o *Options) EnsureDefaults() {
	o.Config.EnsureDefaults()
	o.Duration, o.Rate = cmp.Or(o.Duration, time.Minute), cmp.Or(o.Rate, 2*o.Machines)
	o.Seed = cmp.Or(o.Seed, 1)
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
}

// Validate reports every error at once.
func (o *Options) Validate() error {
	_, known := scenarios[o.Scenario]
	return errors.Join(
		validate.That(known, "scenario %q: expected %s", o.Scenario, strings.Join(Scenarios(), ", ")),
		validate.That(o.Machines >= 5 && o.Machines <= maxMachines, "%d machines: expected 5 to %d", o.Machines, maxMachines),
		validate.That(o.Rate >= 1, "rate %d: expected 1 or more", o.Rate),
		validate.That(o.Duration >= 5*time.Second, "duration %v: expected 5s or more", o.Duration),
	)
}

// scenarios are the functions behind the names.
var scenarios = map[string]func(context.Context, *run) error{
	"throughput": throughput, "running": running, "outputs": mapOutputs, "failover": failover,
	"rack": drainRack, "outage": outage, "flap": flap, "mixed": mixed,
}

// Scenarios returns the names of all scenarios.
func Scenarios() []string {
	return []string{"throughput", "running", "outputs", "failover", "rack", "outage", "flap", "mixed"}
}

// run is a scenario that runs.
type run struct {
	Options
	cluster *rig.Rig
	fleet   *Fleet
	client  *remote.Client
	result  *Result
}

// Run starts masters and machines, runs a scenario and ends them. An error means that the
// scenario could not run; what went wrong in it is in Result.Violations.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	r := &run{Options: o, result: &Result{Scenario: o.Scenario, Machines: o.Machines, Load: bench.Loads()}}
	if r.cluster, err = startMasters(ctx, &o); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.Close()) }()
	if r.client, err = NewClient(r.cluster.Cluster); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.client.Close()) }()
	began := time.Now()
	if r.fleet, err = r.attach(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.fleet.Close()) }()
	r.result.add("all machines attached after", time.Since(began).Seconds(), "s")
	began = time.Now()
	defer func() { err = errors.Join(err, r.keepLogs(err)) }()
	if err := scenarios[o.Scenario](ctx, r); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", o.Scenario, errors.Join(err, r.problems()))
	}
	r.result.Seconds = time.Since(began).Seconds()
	r.result.add("sessions that broke", float64(r.fleet.counts.sessions.Load()), "")
	r.result.add("machines that were silent for half the expiry", float64(r.fleet.counts.silences.Load()), "")
	r.result.add("attempts that ran again for a cause", float64(r.fleet.ledger.Restarts()), "")
	r.result.Violations = append(r.result.Violations, r.fleet.ledger.Violations()...)
	return r.result, nil
}

// attachTimeout is how long the machines may take to join.
const attachTimeout = 2 * time.Minute

func (r *run) attach(ctx context.Context) (*Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	return Attach(ctx, r.cluster.Cluster, r.Config)
}

// keepLogs copies the logs of the masters if something went wrong.
func (r *run) keepLogs(failed error) error {
	if r.Logs == "" || failed == nil && len(r.result.Violations) == 0 {
		return nil
	}
	return os.CopyFS(r.Logs, os.DirFS(filepath.Join(r.cluster.Dir(), "logs")))
}

// problems returns what was noticed before a scenario ended early.
func (r *run) problems() error {
	if v := slices.Concat(r.result.Violations, r.fleet.ledger.Violations()); len(v) > 0 {
		return errors.New(strings.Join(v, "; "))
	}
	return nil
}

// submit submits a job with the run's seed.
func (r *run) submit(ctx context.Context, job Job) (string, error) {
	job.Seed = r.Seed
	id, err := r.fleet.Submit(ctx, r.client, job)
	if err != nil {
		return "", fmt.Errorf("submission of a job of %d maps and %d reduces: %w", job.Maps, job.Reduces, err)
	}
	return id, nil
}

// await waits for the end of a job, which must succeed, and checks it in the ledger. Several
// goroutines may call it, so it does not change the result.
func (r *run) await(ctx context.Context, id string) error {
	status, err := r.client.Watch(ctx, id, nil)
	if err != nil {
		return fmt.Errorf("end of %s: %w", id, err)
	}
	if status.State != wire.JobState_SUCCEEDED {
		r.fleet.ledger.violated("%s has ended as %v: %s", id, status.State, status.Cause)
	}
	r.fleet.ledger.JobEnded(id, status.State == wire.JobState_SUCCEEDED)
	return nil
}

// kill kills a job that need not finish, and waits for its end.
func (r *run) kill(ctx context.Context, id string) error {
	if err := r.client.Kill(ctx, id, "the scenario is over"); err != nil {
		return err
	}
	_, err := r.client.Watch(ctx, id, nil)
	r.fleet.ledger.JobEnded(id, false)
	return err
}

// awaitCount waits until a count is n more than it was.
func (r *run) awaitCount(ctx context.Context, count *atomic.Int64, was int64, n int) error {
	err := syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) { return count.Load()-was >= int64(n), nil })
	if err != nil {
		return fmt.Errorf("%d of %d attempts: %w", count.Load()-was, n, err)
	}
	return nil
}

// profileFor profiles the leader for a time, if a profile is wanted. It returns a function
// that waits for it.
func (r *run) profileFor(ctx context.Context, d time.Duration) (wait func() error) {
	if r.Profile == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	file := r.Profile
	if filepath.Ext(file) == "" {
		file += ".pprof"
	}
	go func() { done <- profile(ctx, r.cluster.Cluster, file, d) }()
	return func() error { return <-done }
}

// startMasters starts three masters, which can be broken, as processes of this machine.
func startMasters(ctx context.Context, o *Options) (*rig.Rig, error) {
	return rig.Start(ctx, rig.Config{
		Hammr: o.Hammr, Dir: filepath.Join(o.Dir, "cluster"), Masters: 3, MastersOnly: true, Expiry: o.Expiry,
		MasterFlags: append([]string{"--pprof", "--max-connections-per-address", "16384"}, o.MasterFlags...),
	})
}

// Attach starts a fleet of a cluster of this machine, and returns when all of its machines
// have joined. Config needs no addresses and no token.
func Attach(ctx context.Context, c *testcluster.Cluster, cfg Config) (*Fleet, error) {
	info, err := c.Client().Info(ctx)
	if err != nil {
		return nil, err
	}
	if cfg.Token, err = c.Token(); err != nil {
		return nil, err
	}
	cfg.Masters, cfg.ClusterID = c.Addresses(), info.ClusterId
	f, err := Start(cfg)
	if err != nil {
		return nil, err
	}
	if err := f.Await(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// submitTimeout is how long a client searches for a leader. It covers several elections of a
// loaded machine.
const submitTimeout = 2 * time.Minute

// NewClient returns a client that can submit jobs to a cluster of this machine. The program
// of the jobs is a file that no task runs.
func NewClient(c *testcluster.Cluster) (*remote.Client, error) {
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	program := filepath.Join(c.Dir(), "program")
	if err := os.WriteFile(program, []byte("tasks of a fleet run no program\n"), 0o700); err != nil {
		return nil, err
	}
	fsys := local.New(local.Options{})
	return remote.New(remote.Config{
		Config: rpc.Config{Masters: c.Addresses(), Token: token, Timeout: submitTimeout}, Program: program,
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return fsys, strings.TrimPrefix(name, fsys.URI()), nil
		},
	})
}
