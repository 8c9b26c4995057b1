package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/web/access"
)

// WhatIfConfig configures a WhatIfRunner.
type WhatIfConfig struct {
	// History is the full name of the directory of histories. Required.
	History string
	// Program is the hammr program with its first arguments; default this program, also if its file was
	// replaced.
	Program []string
	// Time and Memory (bytes) bound a simulation; default 60 s and 1 GiB.
	Time   time.Duration
	Memory int64
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *WhatIfConfig) EnsureDefaults() {
	c.Time, c.Memory = cmp.Or(c.Time, time.Minute), cmp.Or(c.Memory, 1<<30)
	if c.Program == nil {
		c.Program = []string{"/proc/self/exe"}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

const (
	// maxWhatIfs is how many simulations are kept.
	maxWhatIfs = 8
	// maxWhatIfJobs bounds the jobs of a simulation.
	maxWhatIfJobs = 10_000
	// maxWhatIfBytes bounds the output of the process. 10,000 jobs need about 2 MiB.
	maxWhatIfBytes = 16 << 20
	// lowestPriority is that of the process, so that it takes no time from other processes.
	lowestPriority = 19
)

// WhatIfRunner simulates the jobs of a directory of histories, one simulation at a time. Each is a
// process of its own, because it takes much time and memory:
//
//	StartWhatIf ─► running ─► done | failed | cancelled
//
// The process ends with this one, whatever happens, and not later than Config.Time.
type WhatIfRunner struct {
	cfg  WhatIfConfig
	kept results[*whatIf]
	work sync.WaitGroup // of the goroutine that waits for the process

	mu struct {
		sync.Mutex
		running *whatIf // nil for none
		closed  bool
	}
}

// whatIf is a simulation. The lock of the runner guards the document.
type whatIf struct {
	apidoc.WhatIfRun
	cancel context.CancelCauseFunc
	over   chan struct{} // closed when the process has ended
}

var _ WhatIfSource = (*WhatIfRunner)(nil)

// NewWhatIfRunner returns a runner. It starts nothing before it is asked.
func NewWhatIfRunner(cfg WhatIfConfig) *WhatIfRunner {
	cfg.EnsureDefaults()
	return &WhatIfRunner{cfg: cfg, kept: results[*whatIf]{most: maxWhatIfs}}
}

// errWhatIfClosed is why a simulation ends with the server.
var errWhatIfClosed = errors.New("the server ends")

// Close ends a simulation that runs, and waits for its process.
func (r *WhatIfRunner) Close() error {
	r.mu.Lock()
	r.mu.closed = true
	if r.mu.running != nil {
		r.mu.running.cancel(errWhatIfClosed)
	}
	r.mu.Unlock()
	r.work.Wait()
	return nil
}

// StartWhatIf implements WhatIfSource.
func (r *WhatIfRunner) StartWhatIf(_ context.Context, q WhatIfQuery) (apidoc.WhatIfRun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Now()
	if r.mu.closed {
		return apidoc.WhatIfRun{}, Classify(ErrUnavailable, errWhatIfClosed)
	}
	if other := r.mu.running; other != nil {
		took := now.Sub(time.UnixMilli(other.Started))
		return apidoc.WhatIfRun{}, &access.Refusal{Status: http.StatusTooManyRequests, RetryAfter: max(r.cfg.Time-took, time.Second), Text: fmt.Sprintf(
			"%s has run a what-if simulation for %v; one runs at a time, for at most %v: wait for its end, or cancel it at /scheduler/whatif/%s", other.User, took.Round(time.Second), r.cfg.Time, other.ID)}
	}
	deadline, end := context.WithTimeoutCause(context.Background(), r.cfg.Time, fmt.Errorf("it was not done after %v, which is the limit; select fewer jobs, or run the command on another machine", r.cfg.Time))
	ctx, cancel := context.WithCancelCause(deadline)
	run := &whatIf{cancel: cancel, over: make(chan struct{}), WhatIfRun: apidoc.WhatIfRun{
		State: apidoc.WhatIfRunning, User: q.User, Command: q.command(r.cfg.History), Parameters: q.Params, Started: now.UnixMilli(),
	}}
	run.ID = r.kept.add(run)
	r.mu.running = run
	r.work.Go(func() {
		defer end()
		result, err := r.simulate(ctx, q.Args(r.cfg.History, false))
		cancel(nil)
		r.finish(run, result, err)
		close(run.over)
	})
	return run.WhatIfRun, nil
}

// finish notes the end of a simulation.
func (r *WhatIfRunner) finish(run *whatIf, result *apidoc.WhatIf, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.running = nil
	run.Elapsed = r.cfg.Now().UnixMilli() - run.Started
	run.State, run.Result = apidoc.WhatIfDone, result
	if err != nil {
		run.State, run.Problem = apidoc.WhatIfFailed, err.Error()
	}
	if errors.As(err, new(cancelledBy)) {
		run.State = apidoc.WhatIfCancelled
	}
}

// cancelledBy is the name of the user who has cancelled a simulation.
type cancelledBy string

func (c cancelledBy) Error() string { return string(c) + " has cancelled it" }

// simulate runs the process.
func (r *WhatIfRunner) simulate(ctx context.Context, args []string) (*apidoc.WhatIf, error) {
	stdout, stderr := &boundedText{most: maxWhatIfBytes}, &boundedText{most: 64 << 10, cut: true}
	args = slices.Concat(r.cfg.Program[1:], args, []string{"--json", "--quiet", fmt.Sprintf("--max-jobs=%d", maxWhatIfJobs)})
	cmd := exec.CommandContext(ctx, r.cfg.Program[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMEMLIMIT=%d", r.cfg.Memory/10*9)) // it collects garbage before it reaches the limit
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = stdout, stderr, time.Second
	starter := procfs.NewStarter()
	defer starter.Close() // after the end of the process, which ends with the thread
	if err := starter.Start(func() error { return r.start(cmd) }); err != nil {
		return nil, fmt.Errorf("start of the simulation: %w", err)
	}
	if err := cmd.Wait(); err != nil {
		return nil, r.explain(ctx, err, stdout, stderr.text.String())
	}
	result := new(apidoc.WhatIf)
	if err := json.Unmarshal(stdout.text.Bytes(), result); err != nil {
		return nil, fmt.Errorf("output of the simulation: %w", err)
	}
	return result, nil
}

// start starts the process with its limits. It runs on the thread of a Starter, so the priority is that
// of this thread and of its children only.
func (r *WhatIfRunner) start(cmd *exec.Cmd) error {
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, 0, lowestPriority); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	limit := &unix.Rlimit{Cur: uint64(r.cfg.Memory), Max: uint64(r.cfg.Memory)}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, limit, nil); err != nil && !errors.Is(err, unix.ESRCH) { // it may have ended
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	return nil
}

// explain says why the process has no result.
func (r *WhatIfRunner) explain(ctx context.Context, err error, stdout *boundedText, stderr string) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case stdout.full:
		return fmt.Errorf("its result is larger than %s; select fewer jobs", bytesText(maxWhatIfBytes))
	case strings.Contains(stderr, "out of memory"), strings.Contains(stderr, "cannot allocate memory"):
		return fmt.Errorf("it needs more than %s of memory, which is the limit; select fewer jobs, or run the command on another machine", bytesText(r.cfg.Memory))
	}
	for line := range strings.Lines(stderr) {
		if text, found := strings.CutPrefix(line, "hammr: "); found {
			err = errors.New(strings.TrimSpace(text))
		}
	}
	return err
}

// boundedText keeps the beginning of a text. Without cut, a longer one is an error.
type boundedText struct {
	text bytes.Buffer
	most int
	cut  bool
	full bool
}

func (b *boundedText) Write(p []byte) (int, error) {
	left := b.most - b.text.Len()
	if len(p) > left {
		b.full = true
		if !b.cut {
			return 0, errors.New("too long")
		}
	}
	_, _ = b.text.Write(p[:min(len(p), left)]) // a buffer takes everything
	return len(p), nil
}

// documentLocked returns the document of a simulation as it is now.
func (r *WhatIfRunner) documentLocked(run *whatIf) apidoc.WhatIfRun {
	doc := run.WhatIfRun
	if doc.State == apidoc.WhatIfRunning {
		doc.Elapsed = r.cfg.Now().UnixMilli() - doc.Started
	}
	return doc
}

// WhatIfs implements WhatIfSource.
func (r *WhatIfRunner) WhatIfs(context.Context) (Answer[[]apidoc.WhatIfRun], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []apidoc.WhatIfRun{}
	for _, run := range slices.Backward(r.kept.all()) {
		doc := r.documentLocked(run)
		doc.Result = nil
		list = append(list, doc)
	}
	return Answer[[]apidoc.WhatIfRun]{Value: list, At: r.cfg.Now()}, nil
}

// find returns a simulation.
func (r *WhatIfRunner) find(id string) (*whatIf, error) {
	run, found := r.kept.get(id)
	if !found {
		return nil, fmt.Errorf("no what-if simulation %.40q: the process that has made it keeps its latest %d until it ends; start it again at /scheduler/whatif, or with hammr sim whatif: %w", id, maxWhatIfs, ErrUnknown)
	}
	return run, nil
}

// WhatIf implements WhatIfSource.
func (r *WhatIfRunner) WhatIf(_ context.Context, id string) (a Answer[apidoc.WhatIfRun], err error) {
	run, err := r.find(id)
	if err != nil {
		return a, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return Answer[apidoc.WhatIfRun]{Value: r.documentLocked(run), At: r.cfg.Now()}, nil
}

// CancelWhatIf implements WhatIfSource. It waits for the end of the process.
func (r *WhatIfRunner) CancelWhatIf(ctx context.Context, id, user string) (apidoc.WhatIfRun, error) {
	run, err := r.find(id)
	if err != nil {
		return apidoc.WhatIfRun{}, err
	}
	select {
	case <-run.over:
		return apidoc.WhatIfRun{}, Classify(ErrRefused, errors.New("the simulation is over already"))
	default:
	}
	run.cancel(cancelledBy(user))
	select {
	case <-run.over:
	case <-ctx.Done():
	}
	a, err := r.WhatIf(ctx, id)
	return a.Value, err
}
