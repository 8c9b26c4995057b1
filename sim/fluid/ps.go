package fluid

// ps serves all jobs at once in proportion to their weights: generalised
// processor sharing.
//
// Its clock, lag, is the service that a job of weight 1 would have got since the
// server was last idle. A job of size s and weight w that arrives at lag g is
// done at lag g + s/w, whoever comes and goes meanwhile, so the order in which
// jobs are done is fixed when they arrive.
type ps struct {
	size   []number // of each job; of jobs that have not arrived, the maker may change it
	weight []number

	lag   number
	total number // weight of the jobs in line; meaningless without one
	line  line   // by the lag at which they are done
}

func (p *ps) arrive(job int) { p.enter(job) }

// enter is arrive, and returns the place that the job has got.
func (p *ps) enter(job int) place {
	if len(p.line) == 0 {
		p.lag, p.total = zero, zero
	}
	done := at(p.lag.plus(p.size[job].over(p.weight[job])), job)
	p.line.add(done)
	p.total = p.total.plus(p.weight[job])
	return done
}

func (p *ps) horizon() (number, bool) {
	if len(p.line) == 0 {
		return zero, false
	}
	return p.lag.until(p.line[0].at).times(p.total), true
}

func (p *ps) pass(dt number) {
	if len(p.line) > 0 {
		p.lag = p.lag.plus(dt.over(p.total))
	}
}

func (p *ps) happen() int {
	first := p.line.take()
	if p.lag.less(first.at) {
		p.lag = first.at
	}
	p.total = p.total.minus(p.weight[first.job])
	return first.job
}
