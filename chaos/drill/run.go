package drill

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/chaos/rig"
)

// drill plays one plan.
//
// Goroutines of a drill, all of which runJobs waits for:
//
//	watchJob       one a job: reads its status, the only writer of jobWatcher
//	injectAll      injects due faults one after the other; owns random
//	awaitRecovery  one an injected fault: measures its recovery
//	undoLater      one an injected fault that lasts: undoes it
type drill struct {
	session   *Session
	plan      *chaos.Plan
	rig       *rig.Rig
	at        dataPlace
	outs      []string // of the plan's jobs
	began     time.Time
	watch     *jobWatcher
	random    *rand.Rand // of the goroutine that injects
	firstTerm uint64     // of the masters when the drill began
	noNetem   bool       // the kernel cannot delay packets; of the goroutine that injects

	mu struct {
		sync.Mutex
		faults []chaos.FaultResult
		wrong  []string // what makes the verdict bad
	}
}

// Run plays a plan and writes its report into a directory, which it creates. The verdict
// is nil if the error kept the drill from starting.
//
//	CanPlay ─► prepare ─► runJobs ───────────────────────────► end
//	           input,     submit, watch and inject, judge      cluster, logs, histories
//	           expected
//	           output,
//	           cluster
//
// The plan is written first, so that a drill that hangs or is killed can be played again.
func (s *Session) Run(ctx context.Context, plan *chaos.Plan, report string) (*chaos.Verdict, error) {
	if err := s.CanPlay(plan); err != nil {
		return nil, err
	}
	if err := writeFile(report, "plan", plan.Format()); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(s.dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	d := &drill{session: s, plan: plan, random: rand.New(rand.NewPCG(plan.Seed, 7))}
	v, err := d.play(ctx, scratch, report)
	if err != nil {
		return nil, err
	}
	text, err := v.JSON()
	return v, errors.Join(err, writeFile(report, "verdict.json", text))
}

// play starts the cluster, plays the plan and ends the cluster. After the end of the
// cluster no process may have its directory on the command line: a process that remains is
// a bug of the program and makes the verdict bad.
func (d *drill) play(ctx context.Context, scratch, report string) (v *chaos.Verdict, err error) {
	if err := d.prepare(ctx, scratch); err != nil {
		return nil, err
	}
	v, err = d.runJobs(ctx, scratch)
	if ended := d.end(report); ended != nil {
		err = errors.Join(err, ended)
	}
	if remaining := d.rig.Processes(); v != nil && len(remaining) > 0 {
		v.Wrong = append(v.Wrong, fmt.Sprintf("processes remain: %q", remaining))
		v.Sum()
	}
	return v, err
}

// prepare makes the input and the expected outputs, and starts the cluster. Input and
// expected output are made before the cluster starts, so that they take no time from the
// jobs.
func (d *drill) prepare(ctx context.Context, scratch string) (err error) {
	cfg := rig.Config{
		Dir: filepath.Join(scratch, "cluster"), Hammr: d.session.cfg.Hammr, Masters: d.plan.Masters, Tasknodes: d.plan.Tasknodes,
		Expiry: d.session.cfg.Expiry, MasterFlags: frequentSnapshots,
	}
	if d.plan.HDFS && d.session.cfg.Cluster == nil {
		if cfg.HDFS, err = d.session.obtainHDFS(ctx, d.plan.Tasknodes); err != nil {
			return err
		}
	}
	network, disks := isolation(d.plan)
	if cfg.Network = network; disks {
		cfg.SmallDisks = smallDisk
		cfg.PowerLoss = slices.Contains(d.plan.Kinds(), chaos.PowerLoss)
	}
	d.at = d.session.dataPlace(cfg.HDFS)
	for _, j := range d.plan.Jobs {
		if _, err := d.session.expected(ctx, d.at, j); err != nil {
			return err
		}
	}
	return d.start(ctx, cfg)
}

// frequentSnapshots makes masters write several snapshots in a drill.
var frequentSnapshots = []string{"--snapshot-entries", "4", "--snapshot-interval", "200ms"}

// smallDisk is enough bytes for the program, for spills, and for the free space that a
// tasknode requires (--min-free).
const smallDisk = 320 << 20

// runJobs submits the jobs, injects the faults while they run, and judges. Time 0 of
// triggers and of the report is the submission of the first job.
func (d *drill) runJobs(ctx context.Context, scratch string) (*chaos.Verdict, error) {
	var ids []string
	masters, _ := d.rig.Names()
	d.slowCommits(ctx, masters)
	d.firstTerm = d.term(ctx)
	d.began = time.Now()
	for i, j := range d.plan.Jobs {
		out := filepath.Join(scratch, j.Name)
		if d.at.remote() {
			out = fmt.Sprintf("%s/%s-%s", d.at.dir, filepath.Base(scratch), j.Name)
		}
		id, err := d.session.submit(ctx, d.rig.Environ(), d.at, j, out)
		if err != nil {
			return nil, err
		}
		// The clock starts when the first job is accepted.
		if d.outs, ids = append(d.outs, out), append(ids, id); i == 0 {
			d.began = time.Now()
		}
	}
	d.watch = newWatch(d.rig, ids)
	d.watchAndInject(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return d.judge(ctx), nil
}

// watchAndInject injects the plan's faults until all jobs have ended or time is up.
// JobTimeout bounds it: a job that hangs is reported as it is then.
func (d *drill) watchAndInject(ctx context.Context) {
	d.mu.faults = make([]chaos.FaultResult, len(d.plan.Faults))
	watching, cancel := context.WithTimeout(ctx, d.session.cfg.JobTimeout)
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { d.watch.run(watching) })
	all.Go(func() { d.injectAll(watching) })
	all.Wait()
}

// injectAll injects each fault when it is due. Goroutines of their own undo those that
// last; injectAll waits for them.
//
//	pending ── due ─► tryInject ── hit ──► injected ── For, end of jobs ─► undone
//	   ▲                  │                    │
//	   └── nothing to hit ┘                    └─► awaitRecovery
func (d *drill) injectAll(ctx context.Context) {
	var lasting sync.WaitGroup
	defer lasting.Wait()
	pending := make([]int, len(d.plan.Faults))
	for i, f := range d.plan.Faults {
		pending[i], d.mu.faults[i] = i, chaos.FaultResult{Fault: f.String(), Reason: "its trigger never fired"}
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for len(pending) > 0 {
		rest := pending[:0]
		for _, i := range pending {
			if !d.isDue(d.plan.Faults[i].Trigger) || !d.tryInject(ctx, i, &lasting) {
				rest = append(rest, i)
			}
		}
		if pending = rest; time.Since(d.began) > d.plan.Limit {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-d.watch.allDone:
			return
		case <-tick.C:
		case <-d.watch.updated:
		}
	}
}

// commitDelay is how long a commit waits before its first file and after its last one in
// plans with faults in it: several poll intervals.
const commitDelay = 8 * pollInterval

// slowCommits delays the commits of masters if a plan has a trigger in them, or in reduces
// that have fetched their input: otherwise a job ends before its status is read again. A failpoint of the
// plan at the same point replaces the delay. A master that does not answer has no delay.
//
// Restarted masters have forgotten the delay and get it again from restartDaemons.
func (d *drill) slowCommits(ctx context.Context, names []string) {
	if !waitsForJobEnd(d.plan) {
		return
	}
	masters, _ := d.rig.Names()
	for _, name := range names {
		if !slices.Contains(masters, name) {
			continue
		}
		for _, point := range chaos.CommitEndPoints() {
			call, cancel := context.WithTimeout(ctx, callTimeout)
			_ = d.rig.Failpoint(call, name, point, fmt.Sprintf("delay=%v", commitDelay)) // without it a trigger may be missed; the verdict says so
			cancel()
		}
	}
}

// waitsForJobEnd reports whether a plan has a trigger near the end of a job. Other plans
// run without the delay, so that they have the usual timing of commits.
func waitsForJobEnd(plan *chaos.Plan) bool {
	return slices.ContainsFunc(plan.Faults, func(f chaos.Fault) bool {
		return f.Trigger.Event == chaos.AtCommit || f.Trigger.Event == chaos.AtReduceProgress && f.Trigger.N > 33
	})
}

// restartDaemons starts killed daemons, which have forgotten the faults inside them. It
// returns when they are ready, so the recovery of a fault includes their start.
func (d *drill) restartDaemons(ctx context.Context, names []string) error {
	err := d.rig.Start(ctx, names...)
	d.slowCommits(ctx, names)
	return err
}
