package fluid

// ps serves all jobs at the same time in proportion to their weights: generalised processor
// sharing.
//
// Its clock, lag, is the service that a job of weight 1 would have received since the server
// was last idle. A job of size s and weight w that arrives at lag g completes at lag g +
// s/w, whatever other jobs arrive or complete. So the order of completions is fixed when
// jobs arrive.
type ps struct {
	size   []number // of each job; the caller may change it before the job arrives
	weight []number

	lag   number
	total number   // weight of the jobs in queue; undefined without one
	queue jobQueue // by the lag at which they complete
}

func (p *ps) arrive(job int) { p.enter(job) }

// enter does what arrive does, and returns the job's key.
func (p *ps) enter(job int) queued {
	if len(p.queue) == 0 {
		p.lag, p.total = zero, zero
	}
	done := queuedAt(p.lag.plus(p.size[job].over(p.weight[job])), job)
	p.queue.Push(done)
	p.total = p.total.plus(p.weight[job])
	return done
}

func (p *ps) horizon() (number, bool) {
	if len(p.queue) == 0 {
		return zero, false
	}
	return p.lag.until(p.queue[0].key).times(p.total), true
}

func (p *ps) elapse(dt number) {
	if len(p.queue) > 0 {
		p.lag = p.lag.plus(dt.over(p.total))
	}
}

func (p *ps) complete() int {
	first := p.queue.Pop()
	if p.lag.less(first.key) {
		p.lag = first.key
	}
	p.total = p.total.minus(p.weight[first.job])
	return first.job
}
