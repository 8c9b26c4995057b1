package console

import (
	"fmt"
	"sync"
	"time"
)

// Progress is how far a job is.
type Progress struct {
	Map      float64 // 0..1, of all map tasks
	Reduce   float64 // 0..1, of all reduce tasks; 0 in a map-only job
	MapsOnly bool    // the job has no reduces

	// Work done and in all, in bytes, over the phases as far as they are known.
	// The rate and the time left come from these. A BytesTotal of 0 is unknown:
	// there is no rate then.
	BytesDone  int64
	BytesTotal int64

	// Partial says that the job may be further: somebody has not been heard yet,
	// after a failover say. What was shown before is then not taken back.
	Partial bool
}

// Progress shows how far the job is. Piped, it prints a line when a percentage
// has changed. On a terminal it draws the bar, at most ten times a second.
func (c *Console) Progress(p Progress) {
	if c.opts.Quiet {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.Partial && c.mu.last != nil {
		p = p.atLeast(*c.mu.last)
	}
	c.mu.last = &p
	if c.opts.Terminal {
		c.drawLocked()
		return
	}
	if text := percentages(p); text != c.mu.shown {
		c.mu.shown = text
		c.logLocked(Info, ClassJob, text)
	}
}

// atLeast is p where that is further than what was shown.
func (p Progress) atLeast(shown Progress) Progress {
	p.Map, p.Reduce = max(p.Map, shown.Map), max(p.Reduce, shown.Reduce)
	p.BytesDone, p.BytesTotal = max(p.BytesDone, shown.BytesDone), max(p.BytesTotal, shown.BytesTotal)
	return p
}

func (c *Console) drawLocked() {
	if c.mu.last != nil {
		frame := c.mu.bar.frame(c.opts.Now(), *c.mu.last, c.opts.Width())
		_, _ = c.opts.Err.Write([]byte(frame))
	}
}

// StartRefresh keeps the bar of a terminal alive while the job says nothing: it comes
// although the first task is slow, and rate and remaining time stay true. The
// caller stops it before it tells how the job has ended.
func (c *Console) StartRefresh() (stop func()) {
	if !c.opts.Terminal || c.opts.Quiet {
		return func() {}
	}
	quit := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		tick := time.NewTicker(barRefresh)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				c.mu.Lock()
				c.drawLocked()
				c.mu.Unlock()
			}
		}
	})
	return func() {
		close(quit)
		drawing.Wait()
	}
}

// Clear removes the bar from the terminal, before somebody else writes there or
// when the program ends. It comes back with the next Progress.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeLocked("")
}

// percentages is Hadoop's progress line.
func percentages(p Progress) string {
	return fmt.Sprintf(" map %.0f%% reduce %.0f%%", percent(p.Map), percent(p.Reduce))
}

// percent clamps a fraction, NaN included, to 0..100.
func percent(fraction float64) float64 {
	if !(fraction > 0) {
		return 0
	}
	return 100 * min(fraction, 1)
}

// fraction is how much of the job's work is done: by bytes where they are
// known, else by tasks.
func (p Progress) fraction() float64 {
	switch {
	case p.BytesTotal > 0:
		return percent(float64(p.BytesDone)/float64(p.BytesTotal)) / 100
	case p.MapsOnly:
		return percent(p.Map) / 100
	}
	return (percent(p.Map) + percent(p.Reduce)) / 200
}

// Times of the bar.
const (
	barDelay    = 300 * time.Millisecond // a job that is done by then shows none
	barInterval = 100 * time.Millisecond // between two frames
	barRefresh  = 500 * time.Millisecond // between two frames of a job without news
)
