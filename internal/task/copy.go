package task

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
)

// copyPhase is a reduce while it gathers the segments of its partition. Those of
// its own machine are read from their files, in the merge; those of others are
// copied, several at once, by a transfer.Copier. All fields belong to the
// goroutine of the reduce.
//
// Invariant: the intake holds what the reduce's fetched names and what the
// copier's results will name, each output wholly, one of each map.
type copyPhase struct {
	r        *Reduce
	have     map[int32]bool                 // maps whose segments are taken in
	pending  map[int32]bool                 // maps whose segments are being copied
	outputs  map[string]*taskproc.MapOutput // given to the copier at any time, by attempt
	told     map[string]string              // addresses of those that are not revoked, by attempt
	complete bool                           // no more outputs will be named
	fetcher  *transfer.Fetcher              // nil until something is to be copied
	copier   *transfer.Copier               // likewise
}

// copyAll takes in segments until the last one is there. It reports false when
// the attempt is to be paused.
func (r *Reduce) copyAll() (complete bool, err error) {
	p := &copyPhase{
		r: r, have: make(map[int32]bool), pending: make(map[int32]bool),
		outputs: make(map[string]*taskproc.MapOutput), told: make(map[string]string),
	}
	for _, o := range r.fetched {
		p.have[o.Task] = true
	}
	defer p.close()
	for !p.complete || len(p.pending) > 0 {
		if r.signal.pause.Load() {
			p.pause()
			return false, nil
		}
		if err := p.step(); err != nil {
			return false, err
		}
	}
	return true, nil
}

// step waits for something to happen and deals with it.
func (p *copyPhase) step() error {
	r := p.r
	var err error
	select {
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	case <-r.signal.paused:
		return nil
	case news, open := <-r.news:
		if !open {
			return errKilled
		}
		err = p.hear(news)
	case <-p.results():
		err = p.collect(p.copier.Take())
	}
	if r.Start.Maps > 0 {
		r.setFraction(float64(len(p.have)) / float64(r.Start.Maps) / 3)
	}
	return err
}

func (p *copyPhase) results() <-chan struct{} {
	if p.copier == nil {
		return nil
	}
	return p.copier.Ready()
}

// hear takes in the outputs of finished maps, or begins to copy them.
func (p *copyPhase) hear(news *taskproc.Outputs) error {
	p.revoke(news.Revoked)
	for _, o := range news.Outputs {
		if p.have[o.Task] {
			continue
		}
		if p.r.signal.pause.Load() {
			return nil // what is left is asked for again after the resume
		}
		if err := p.take(o); err != nil {
			return err
		}
	}
	p.complete = news.Complete
	return nil
}

// revoke gives up copies of outputs that are gone. What is taken in already
// stays; the reduce waits for another output of each of the others.
func (p *copyPhase) revoke(attempts []string) {
	for _, attempt := range attempts {
		if o := p.outputs[attempt]; o != nil {
			p.copier.Drop(o.Task, attempt)
			delete(p.told, attempt)
		}
	}
}

func (p *copyPhase) take(o *taskproc.MapOutput) error {
	address, told := p.told[o.Attempt]
	switch {
	case told && address == o.Address:
	case p.pending[o.Task]: // of an attempt that was lost; which one comes in is the copier's to say
		p.copy(o)
	case o.Address == "" || o.Address == p.r.Start.NodeAddress:
		runs, err := p.r.takeLocal(o)
		if err != nil {
			p.r.Counters.Add(counter.FailedShuffles, 1)
			return &LostOutputError{Attempt: o.Attempt, Err: err}
		}
		p.taken(o, runs)
	case p.empty(o):
		p.taken(o, nil)
	default:
		p.copy(o)
	}
	return nil
}

// empty reports whether an output is known to have nothing for this reduce.
func (p *copyPhase) empty(o *taskproc.MapOutput) bool {
	part := int(p.r.Start.Part)
	return part < len(o.PartitionBytes) && o.PartitionBytes[part] == 0
}

// takeLocal hands the runs of an output on this machine to the intake.
func (r *Reduce) takeLocal(o *taskproc.MapOutput) ([]shuffle.Run, error) {
	index, err := shuffle.ReadIndex(r.ctx, r.Local, o.Path)
	if err != nil {
		return nil, err
	}
	if index.Checksum != o.IndexChecksum {
		return nil, fmt.Errorf("index of %s: checksum %x, but the map reported %x", o.Path, index.Checksum, o.IndexChecksum)
	}
	part := int(r.Start.Part)
	for _, source := range index.Sources(r.Local, part, ordinalOf(o)) {
		if err := r.intake.AddLocal(source); err != nil {
			return nil, err
		}
	}
	return index.Partitions[part], nil
}

// taken records that the runs of an output are in the intake.
func (p *copyPhase) taken(o *taskproc.MapOutput, runs []shuffle.Run) {
	r := p.r
	var bytes int64
	for _, run := range runs {
		bytes += run.Length
		r.total += run.Records
	}
	p.have[o.Task] = true
	r.fetched = append(r.fetched, o)
	r.Counters.Add(counter.ShuffledMaps, 1)
	r.Counters.Add(counter.ReduceShuffleBytes, bytes)
	r.Alive()
}

// copy gives an output to the copier, which is made for the first one.
func (p *copyPhase) copy(o *taskproc.MapOutput) {
	if p.copier == nil {
		p.openCopier()
	}
	p.pending[o.Task] = true
	p.outputs[o.Attempt], p.told[o.Attempt] = o, o.Address
	p.copier.Add(transfer.Segment{
		Task:    o.Task,
		Ordinal: ordinalOf(o),
		Output: transfer.Output{
			Address: o.Address, Job: p.r.Start.JobId, Attempt: o.Attempt,
			File: path.Base(o.Path), IndexChecksum: o.IndexChecksum,
		},
	})
}

func (p *copyPhase) openCopier() {
	r := p.r
	patience := r.Conf.Duration(conf.ShuffleFetchTimeout)
	p.fetcher = transfer.NewFetcher(transfer.FetcherConfig{
		Token:          r.Start.ShuffleToken,
		ConnectTimeout: min(r.Conf.Duration(conf.ShuffleConnectTimeout), patience/2), // so that there is a second try
		IdleTimeout:    min(r.Conf.Duration(conf.ShuffleReadTimeout), patience/2),
		Sources:        r.sources,
	})
	p.copier = transfer.NewCopier(r.ctx, transfer.CopierConfig{
		Fetcher:   p.fetcher,
		Sink:      r.intake,
		Partition: int(r.Start.Part),
		Parallel:  r.Conf.Int(conf.ShuffleParallelCopies),
		Patience:  patience,
		MaxDelay:  min(r.Conf.Duration(conf.ShuffleRetryDelayMax), patience/4),
	})
}

// collect deals with copies that ended.
func (p *copyPhase) collect(results []transfer.Result) error {
	for _, c := range results {
		o := p.outputs[c.Segment.Output.Attempt]
		if c.Err == nil {
			delete(p.pending, o.Task)
			p.taken(o, c.Runs)
			continue
		}
		if err := p.failed(c); err != nil {
			return err
		}
	}
	return nil
}

// failed counts a copy that failed and returns an error if it is for good.
func (p *copyPhase) failed(c transfer.Result) error {
	r := p.r
	if err := context.Cause(r.ctx); err != nil {
		return err
	}
	if !errors.As(c.Err, new(*transfer.BusyError)) {
		r.Counters.Add(counter.FailedShuffles, 1)
	}
	if c.Again {
		r.Logger().Warn("copy will be tried again", "error", c.Err)
		return nil
	}
	if errors.As(c.Err, new(*transfer.LostError)) {
		return &LostOutputError{Attempt: c.Segment.Output.Attempt, Err: c.Err}
	}
	return c.Err
}

// pause ends copying so that what is fetched is what has been taken in: copies
// under way are wholly in the intake or not at all.
func (p *copyPhase) pause() {
	p.r.paused = true
	p.close()
	if p.copier == nil {
		return
	}
	for _, c := range p.copier.Take() {
		if c.Err == nil { // else it is found again after the resume
			p.taken(p.outputs[c.Segment.Output.Attempt], c.Runs)
		}
	}
}

// close may be called twice.
func (p *copyPhase) close() {
	if p.copier != nil {
		p.copier.Close()
		p.fetcher.Close()
	}
}
