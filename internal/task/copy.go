package task

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
)

// writer identifies a Node that writes along an edge.
type writer struct {
	edge int
	task int32
}

func writerOf(o *taskproc.MapOutput) writer { return writer{int(o.Edge), o.Task} }

// copyPhase gathers the segments that a reduce reads. Segments on its own machine are read
// from their files during the merge. A transfer.Copier copies the others, several at once.
// The goroutine of the reduce owns all fields.
//
//	board ── Outputs ──► handleOutput ──┬── on this machine ──────► takeLocal ──┐
//	                                    ├── empty for this reduce ──────────────┤
//	                                    └── elsewhere ──► copier ── collect ────┴──► taken
//
// An output of which each reader has its part is not written again when its machine is lost.
// A revoked output is not copied again, and stays if it is taken. A newer attempt's output
// replaces one that is still being copied.
//
// Invariant: the intake has the outputs in the reduce's fetched and in the copier's
// results: each output completely, and one of each writer.
type copyPhase struct {
	r        *Reduce
	edges    map[int]*copyEdge       // by place in the graph's edges
	writers  map[writer]*writerState // those with outputs that were given to the copier
	byNumber []*writerState          // the same by number
	fetcher  *transfer.Fetcher       // nil before the first copy
	copier   *transfer.Copier        // nil before the first copy
}

// copyEdge is an edge that the reduce reads, and how far.
type copyEdge struct {
	Channel
	partition int    // partition that is read of each output
	have      int    // number of writers whose segments are in the intake
	writers   [3]int // numbers of writers with outputs that were given to the copier, by status
	complete  bool   // the master has announced all outputs
}

// finished reports whether no further output of the edge is awaited. If its writers are
// known, all of them must be in the intake. Otherwise the master must have announced all
// outputs.
func (e *copyEdge) finished() bool {
	if e.Peers != nil {
		return e.have == len(e.Peers)
	}
	return e.complete
}

// pending returns the number of writers whose segments are being copied.
func (e *copyEdge) pending() int { return e.writers[writerCopying] + e.writers[writerLost] }

// awaitsWriters reports whether outputs are awaited that the master has not announced: first
// outputs, or outputs in place of revoked ones.
func (e *copyEdge) awaitsWriters() bool {
	return e.writers[writerLost] > 0 || !e.complete && (e.Peers == nil || e.have+e.pending() < len(e.Peers))
}

// reads reports whether the reduce reads the output of a Node.
func (e *copyEdge) reads(task int32) bool {
	return e.Peers == nil || slices.Contains(e.Peers, int(task))
}

// newCopyPhase begins with what a checkpoint already had, and subscribes to the board.
func (r *Reduce) newCopyPhase() *copyPhase {
	p := &copyPhase{r: r, edges: make(map[int]*copyEdge), writers: make(map[writer]*writerState)}
	var edges []int
	for _, c := range r.channels {
		edges = append(edges, c.Edge)
		p.edges[c.Edge] = &copyEdge{Channel: c, partition: c.partition(r.Node.number), have: r.fetched[c.Edge].size()}
	}
	if r.main { // an attempt that resumes needs the outputs of other reduces again
		r.Node.group.fetched.open(r)
	}
	r.subscription = r.Node.group.board.subscribe(edges)
	return p
}

// copyAll takes in all segments. It returns false if the attempt is to be checkpointed.
func (r *Reduce) copyAll() (complete bool, err error) {
	p := r.newCopyPhase()
	defer p.close()
	for !p.finished() {
		if r.canCheckpoint() && r.Node.Attempt.signals.acceptCheckpoint() {
			p.stopForCheckpoint()
			return false, nil
		}
		if err := p.step(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// finished reports whether all segments are in the intake.
func (p *copyPhase) finished() bool {
	for _, e := range p.edges {
		if !e.finished() || e.pending() > 0 {
			return false
		}
	}
	return true
}

// awaitsWriters reports whether outputs of any edge are awaited that the master has not announced.
func (p *copyPhase) awaitsWriters() bool {
	for _, e := range p.edges {
		if e.awaitsWriters() {
			return true
		}
	}
	return false
}

// step waits for an event and handles it. A third of the reduce's progress is copying,
// another the sort, and the last the reduce function, as in Hadoop.
func (p *copyPhase) step() error {
	r := p.r
	if p.awaitsWriters() {
		defer r.Node.beginWait()()
	}
	var err error
	select {
	case <-r.Node.Attempt.ctx.Done():
		return context.Cause(r.Node.Attempt.ctx)
	case <-p.checkpointRequested():
		return nil
	case <-r.subscription.ready:
		for edge, update := range r.subscription.take() {
			err = errors.Join(err, p.handleOutputs(p.edges[edge], update))
		}
	case <-p.results():
		err = p.collect(p.copier.Take())
	}
	r.Node.setFraction(float64(p.have()) / float64(max(1, p.expected())) / 3)
	return err
}

// have returns the number of outputs in the intake.
func (p *copyPhase) have() (n int) {
	for _, e := range p.edges {
		n += e.have
	}
	return n
}

// checkpointRequested returns a channel that is readable when the reduce is asked for a
// checkpoint and can write one.
func (p *copyPhase) checkpointRequested() <-chan struct{} {
	if !p.r.canCheckpoint() {
		return nil
	}
	return p.r.Node.Attempt.signals.checkpointRequested()
}

// expected returns how many outputs will be taken in, as far as known.
func (p *copyPhase) expected() int {
	n := 0
	for _, e := range p.edges {
		if e.Peers != nil {
			n += len(e.Peers)
		} else {
			n += p.r.Node.group.nodesOf(e.From)
		}
	}
	return n
}

// results is readable when copies have ended; never before the first copy.
func (p *copyPhase) results() <-chan struct{} {
	if p.copier == nil {
		return nil
	}
	return p.copier.Ready()
}

// openCopier makes the copier at the first output on another machine, so that a reduce whose
// input is local has no goroutines for it.
func (p *copyPhase) openCopier() {
	a, c := p.r.Node.Attempt, p.r.Node.Attempt.Conf
	timeout := c.Duration(conf.ShuffleFetchTimeout)
	p.fetcher = a.newFetcher(&p.r.Node.group.server.segments, timeout)
	p.copier = transfer.NewCopier(a.ctx, transfer.CopierConfig{
		Fetcher:     p.fetcher,
		Sink:        liveSink{p.r.intake, a},
		Parallel:    c.Int(conf.ShuffleParallelCopies),
		GiveUpAfter: timeout,
		MaxDelay:    min(c.Duration(conf.ShuffleRetryDelayMax), timeout/4),
	})
}

// newFetcher makes a fetcher of files of other machines, each of which may take that
// long to answer.
func (a *Attempt) newFetcher(shared *transfer.Sources, timeout time.Duration) *transfer.Fetcher {
	return transfer.NewFetcher(transfer.FetcherConfig{
		Token:          a.Start.ShuffleToken,
		ConnectTimeout: min(a.Conf.Duration(conf.ShuffleConnectTimeout), timeout/2), // leaves time for a retry
		IdleTimeout:    min(a.Conf.Duration(conf.ShuffleReadTimeout), timeout/2),
		Resolve:        a.Resolve,
		Sources:        shared,
	})
}

// collect handles copies that have ended. An answer of a machine is a sign of life, even if
// it says that the machine is busy.
func (p *copyPhase) collect(results []transfer.Result) error {
	p.r.Node.Attempt.KeepAlive()
	for _, c := range results {
		if c.Err == nil {
			p.byNumber[c.Segment.Task].enter(writerIdle)
			p.taken(p.copied(c), c.Runs)
			continue
		}
		if err := p.failed(c); err != nil {
			return err
		}
	}
	return nil
}

// failed counts a failed copy. It returns an error if there is no retry.
func (p *copyPhase) failed(c transfer.Result) error {
	a := p.r.Node.Attempt
	if err := context.Cause(a.ctx); err != nil {
		return err
	}
	if !errors.As(c.Err, new(*transfer.BusyError)) {
		a.Counters.Add(counter.FailedShuffles, 1)
	}
	if c.WillRetry {
		a.Logger().Warn("copy failed, retrying", "error", c.Err)
		return nil
	}
	if errors.As(c.Err, new(*transfer.LostError)) {
		return &LostOutputError{Attempt: c.Segment.Output.Attempt, Err: c.Err}
	}
	return c.Err
}

// stopForCheckpoint stops copying. Each copy in progress is taken in completely or not
// at all.
func (p *copyPhase) stopForCheckpoint() {
	p.r.checkpointed = true
	p.close()
	if p.copier == nil {
		return
	}
	for _, c := range p.copier.Take() {
		if c.Err == nil { // the attempt that resumes copies the others
			p.taken(p.copied(c), c.Runs)
		}
	}
}

// close may be called twice.
func (p *copyPhase) close() {
	p.r.subscription.close()
	if p.copier != nil {
		p.copier.Close()
		p.fetcher.Close()
	}
}
