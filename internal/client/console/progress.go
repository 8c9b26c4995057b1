package console

import (
	"fmt"
	"sync"
	"time"
)

// Progress is the progress of a job.
type Progress struct {
	Map      float64 // 0..1, of all map tasks
	Reduce   float64 // 0..1, of all reduce tasks; 0 in a map-only job
	MapsOnly bool    // the job has no reduces

	// Bytes processed and in total, over all phases with known sizes. Rate and remaining
	// time are computed from these. A BytesTotal of 0 means unknown; then there is no rate.
	BytesDone  int64
	BytesTotal int64

	// Partial means that the job may have progressed further: after a failover some
	// tasknodes have not reported yet. The console then never shows less than before.
	Partial bool
}

// Progress shows the progress of the job. Without a terminal it prints a line when a
// percentage has changed. On a terminal it draws the bar, at most ten times a second.
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

// atLeast returns the maximum of p and the progress already shown.
func (p Progress) atLeast(shown Progress) Progress {
	p.Map, p.Reduce = max(p.Map, shown.Map), max(p.Reduce, shown.Reduce)
	p.BytesDone, p.BytesTotal = max(p.BytesDone, shown.BytesDone), max(p.BytesTotal, shown.BytesTotal)
	return p
}

// drawLocked draws the bar for the latest progress, if there is any. It ignores errors, as
// writeLocked does.
func (c *Console) drawLocked() {
	if c.mu.last != nil {
		frame := c.mu.bar.frame(c.opts.Now(), *c.mu.last, c.opts.Width())
		_, _ = c.opts.Err.Write([]byte(frame))
	}
}

// StartRefresh redraws the bar of a terminal while no progress arrives: it shows the bar
// even if the first task is slow, and keeps rate and remaining time current. The caller
// stops it before it reports the end of the job.
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

// Clear removes the bar from the terminal, before other output and at the end of the
// program. The next Progress draws it again.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeLocked("")
}

// percentages returns Hadoop's progress line.
func percentages(p Progress) string {
	return fmt.Sprintf(" map %.0f%% reduce %.0f%%", percent(p.Map), percent(p.Reduce))
}

// percent converts a fraction to a percentage between 0 and 100, also NaN.
func percent(fraction float64) float64 {
	if !(fraction > 0) {
		return 0
	}
	return 100 * min(fraction, 1)
}

// fraction returns the finished part of the work: by bytes if they are known, else by tasks.
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
	barDelay    = 300 * time.Millisecond // a job that finishes sooner shows no bar
	barInterval = 100 * time.Millisecond // between two frames
	barRefresh  = 500 * time.Millisecond // between two frames without progress
)
