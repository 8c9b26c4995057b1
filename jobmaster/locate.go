package jobmaster

import (
	"context"
	"sync"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/format/splits"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// Of a job with very many files the client leaves it to the leader to find out
// where they lie. The job does not wait for that: it starts after a moment, in
// which a few thousand files are located, so that its first tasks run where their
// input is. What is found later comes in batches, in the order of the tasks, and
// so ahead of most of them. Each leader asks anew: it is no part of what is
// replicated, and without it tasks run anywhere.
const (
	// headStart is how long a job waits for the first answers.
	headStart = time.Second
	// locateInterval is how often what was found is told of.
	locateInterval = time.Second
	// locateParallelism is how many files are asked for at once.
	locateParallelism = 32
)

// located tells where some splits of a job lie.
type located struct {
	lead      *lead
	job       cluster.JobID
	locations []cluster.Location
}

func (l *located) refuse(error) {}

func (l *located) handle(m *Master) {
	if l.lead == m.lead {
		m.setLocations(l.job, l.locations)
		m.events = append(m.events, control.SplitsLocated{Job: l.job})
	}
}

// setLocations makes it known where splits lie.
func (m *Master) setLocations(id cluster.JobID, places []cluster.Location) {
	if err := m.state.Locate(id, places); err != nil {
		m.cfg.Logger.Warn("tasks run anywhere", "job", id, "error", err)
	}
}

// foundLocations are the locations found that nobody was told of yet.
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

// locationSearch is a search for the locations of a job's splits that goes on in a
// goroutine of its own.
type locationSearch struct {
	foundLocations
	done chan error // gets what became of it
}

// locate begins to look up where splits lie.
func (w *jobWork) locate(ctx context.Context, all []*taskproc.Split) *locationSearch {
	s := &locationSearch{done: make(chan error, 1)}
	resolve := func(name string) (storage.FS, string, error) { return w.m.cfg.Resolve(ctx, name) }
	go func() { s.done <- splits.Locate(ctx, resolve, locateParallelism, all, s.add) }()
	return s
}

// wait waits for the search, but no longer than limit. over tells that it has
// ended.
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

// setUpJob sets the job up and reports that, then goes on to find out where its
// splits lie. Tasks of a job that has begun under an earlier leader wait for
// nothing.
func (w *jobWork) setUpJob(ctx context.Context, r *workResult) {
	r.splits, r.err = w.m.loadSplits(ctx, w.spec.SplitsPath, w.spec.SplitsHash)
	wait := time.Duration(0)
	if r.err == nil && !w.setUp {
		wait, r.err = headStart, w.makeOutput(ctx)
	}
	if r.err != nil {
		w.m.inbox.Put(r)
		return
	}
	s := w.locate(ctx, r.splits)
	found, over, err := s.wait(wait)
	r.locations = found
	w.m.inbox.Put(r)
	for !over {
		if found, over, err = s.wait(locateInterval); len(found) > 0 {
			w.m.inbox.Put(&located{lead: w.lead, job: w.job, locations: found})
		}
	}
	if err != nil && ctx.Err() == nil {
		w.m.cfg.Logger.Warn("some tasks run anywhere", "job", w.job, "error", err)
	}
}
