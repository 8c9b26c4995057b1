package jobmaster

import (
	"context"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// If a job has very many files, the leader looks up their locations instead of the client.
// The job waits for them for at most headStart, so that its first tasks run near their
// input. In this time a few thousand files are located. Later results arrive in batches, in
// the order of the tasks, and therefore before most tasks start. Locations are not
// replicated: each leader looks them up again. Without locations, tasks run anywhere.
const (
	// headStart is how long a job waits for the first locations.
	headStart = time.Second
	// locateInterval is how often new locations are passed to the loop.
	locateInterval = time.Second
	// locateParallelism is how many files are looked up at once.
	locateParallelism = 32
)

// setLocations records locations of splits in the state. Locations are hints: tasks run
// anywhere without them, so an error is only logged.
func (m *Master) setLocations(id cluster.JobID, places []cluster.Location) {
	if err := m.state.Locate(id, places); err != nil {
		m.cfg.Logger.Warn("no block locations, locality disabled", "job", id, "error", err)
	}
}

// reportLocations passes further locations to the loop, which passes them to the controller.
func (w *jobWork) reportLocations(found []cluster.Location) {
	w.m.postUnder(w.lead, func() {
		w.m.setLocations(w.job, found)
		w.m.events = append(w.m.events, control.SplitsLocated{Job: w.job})
	})
}

// foundLocations collects locations until the loop takes them. Several goroutines of
// the search add to it.
type foundLocations struct {
	mu struct {
		sync.Mutex
		found []cluster.Location
	}
}

func (p *foundLocations) add(split int, hosts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.found = append(p.mu.found, cluster.Location{Split: split, Hosts: hosts})
}

func (p *foundLocations) take() []cluster.Location {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.mu.found
	p.mu.found = nil
	return found
}

// locationSearch looks up the locations of a job's splits in a goroutine.
type locationSearch struct {
	foundLocations
	done chan error // receives the result of the search
}

// locate starts to look up the locations of splits.
func (w *jobWork) locate(ctx context.Context, all []*taskproc.Split) *locationSearch {
	s := &locationSearch{done: make(chan error, 1)}
	resolve := func(name string) (storage.FS, string, error) { return w.m.cfg.Resolve(ctx, name) }
	go func() {
		defer func() {
			if v := recover(); v != nil {
				w.m.logPanic("panic while splits were located", v, "job", w.job)
				s.done <- errPanic
			}
		}()
		s.done <- splits.Locate(ctx, resolve, locateParallelism, all, s.add)
	}()
	return s
}

// wait waits for the end of the search, but not longer than limit. It returns the locations
// found in this time. over reports whether the search has ended.
func (s *locationSearch) wait(limit time.Duration) (found []cluster.Location, over bool, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err = <-s.done:
		over = true
	case <-timer.C:
	}
	return s.take(), over, err
}

// setUpJob sets the job up, reports that to the loop, and then continues to locate its
// splits. If an earlier leader has set up the job, the job does not wait for locations.
//
// The result is reported as soon as the job may start. The goroutine continues until the
// search has ended, or until ctx ends because the job no longer needs it.
func (w *jobWork) setUpJob(ctx context.Context, r *workResult) {
	r.err = w.untilAvailable(ctx, func(ctx context.Context) (err error) {
		if r.splits, err = w.m.loadSplits(ctx, w.spec.SplitsPath, w.spec.SplitsHash); err != nil || w.setUp {
			return err
		}
		return w.makeOutput(ctx)
	})
	wait := headStart
	if w.setUp {
		wait = 0
	}
	if r.err != nil {
		w.report(r)
		return
	}
	s := w.locate(ctx, r.splits)
	found, over, err := s.wait(wait)
	r.locations = found
	w.report(r)
	for !over {
		if found, over, err = s.wait(locateInterval); len(found) > 0 {
			w.reportLocations(found)
		}
	}
	if err != nil && ctx.Err() == nil {
		w.m.cfg.Logger.Warn("some block locations are missing, locality is partial", "job", w.job, "error", err)
	}
}
