package histindex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/storage"
)

// Config configures an Index.
type Config struct {
	// Dir is the full name of the directory of histories. Default "": there are no histories.
	Dir string
	// Resolve maps the full name of a file to its file system and its path there. Required.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
	// Interval is how old a listing may be when View is called; default 10 s.
	Interval time.Duration
	// Patience is how long View waits for files to be read; default 2 s.
	Patience time.Duration
	// Parallelism is how many histories are read at once; default 32.
	Parallelism int
	// MaxJobs bounds the jobs that are listed, the newest days first; default 200,000. A job takes
	// about 600 bytes.
	MaxJobs int
	// CachedTasks bounds the tasks of all histories that are kept after they were read; default
	// 200,000. The latest history is kept in any case.
	CachedTasks int
	// Now returns the time; default time.Now.
	Now func() time.Time
}

// EnsureDefaults sets the fields that have a default and are not set.
func (c *Config) EnsureDefaults() {
	c.Interval, c.Patience = cmp.Or(c.Interval, 10*time.Second), cmp.Or(c.Patience, 2*time.Second)
	c.Parallelism, c.MaxJobs, c.CachedTasks = cmp.Or(c.Parallelism, 32), cmp.Or(c.MaxJobs, 200_000), cmp.Or(c.CachedTasks, 200_000)
	if c.Now == nil {
		c.Now = time.Now
	}
}

// View is what an Index knows at one moment. It never changes.
type View struct {
	At       time.Time // of the last complete listing; zero if there is none yet
	Jobs     []*history.Summary
	Problems []Problem // files that are not used, and directories that cannot be listed
	Loading  bool      // more jobs are being read
	LeftOut  bool      // older jobs are left out, because there are more than Config.MaxJobs
}

// Problem is a file that cannot be used.
type Problem struct {
	File string `json:"file"`
	Text string `json:"problem"`
}

// Index is an index of a directory of histories. Its methods may be called by several goroutines at
// once.
type Index struct {
	cfg    Config
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // the goroutine that lists files, if it runs

	mu struct {
		sync.Mutex
		view    *View
		listed  time.Time     // when the last listing has begun
		running chan struct{} // closed when the present listing ends; nil if there is none
		closed  bool
	}

	days    map[string]*day // by name, "" for the directory itself; only the goroutine uses it
	changes int             // of what days has, by the goroutine
	shown   int             // changes that the view has

	histories cache
}

// New returns an Index. It reads nothing before the first call of View.
func New(cfg Config) *Index {
	cfg.EnsureDefaults()
	x := &Index{cfg: cfg, days: make(map[string]*day)}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	x.mu.view = new(View)
	return x
}

// Close ends a listing that is under way. Later calls of View return the last View.
func (x *Index) Close() error {
	x.mu.Lock()
	x.mu.closed = true
	x.mu.Unlock()
	x.cancel()
	x.work.Wait()
	return nil
}

// View returns the jobs. If the last listing is old, it starts another one and waits for it, at most
// for Config.Patience; the rest is read meanwhile. The error is that of ctx.
func (x *Index) View(ctx context.Context) (*View, error) {
	if running := x.refresh(); running != nil {
		wait, cancel := context.WithTimeout(ctx, x.cfg.Patience)
		defer cancel()
		select {
		case <-running:
		case <-wait.Done():
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.view, ctx.Err()
}

// refresh starts a listing if the last one is old. It returns what is closed when the present listing
// ends, nil if there is none.
func (x *Index) refresh() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.cfg.Now()
	if x.mu.running != nil {
		return x.mu.running
	}
	if x.mu.closed || x.cfg.Dir == "" || !x.mu.listed.IsZero() && now.Sub(x.mu.listed).Abs() < x.cfg.Interval {
		return nil
	}
	done := make(chan struct{})
	x.mu.listed, x.mu.running = now, done
	x.work.Go(func() {
		defer close(done)
		x.list(x.ctx, now)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.mu.running = nil
	})
	return done
}

// publish replaces the view by what is known now. done says that the listing is complete.
func (x *Index) publish(at time.Time, problems []Problem, leftOut, done bool) {
	v := &View{At: at, Problems: slices.Clone(problems), LeftOut: leftOut, Loading: !done}
	for _, name := range x.newestFirst() {
		v.Problems = append(v.Problems, x.days[name].problems()...)
	}
	if x.changes != x.shown {
		v.Jobs, x.shown = x.jobs(), x.changes
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if v.Jobs == nil {
		v.Jobs = x.mu.view.Jobs
	}
	if !done {
		v.At = x.mu.view.At
	}
	x.mu.view = v
}

// jobs returns all jobs, each once.
func (x *Index) jobs() []*history.Summary {
	jobs, seen := []*history.Summary{}, make(map[string]bool)
	for _, name := range x.newestFirst() {
		for _, s := range x.days[name].jobs {
			if !seen[s.ID] {
				seen[s.ID] = true
				jobs = append(jobs, s)
			}
		}
	}
	return jobs
}

// Find returns the summary of a job, nil if the View does not have it.
func (v *View) Find(id string) *history.Summary {
	for _, s := range v.Jobs {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// errNoDirectory is the error of an Index without Config.Dir.
var errNoDirectory = errors.New("no directory of histories is set")
