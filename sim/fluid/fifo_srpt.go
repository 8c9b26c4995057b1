package fluid

// fifo serves jobs one after the other, by arrival.
type fifo struct {
	left  []number // remaining size of each job, shared with the caller
	queue []int
}

func (f *fifo) arrive(job int) { f.queue = append(f.queue, job) }

func (f *fifo) horizon() (number, bool) {
	if len(f.queue) == 0 {
		return zero, false
	}
	return f.left[f.queue[0]], true
}

func (f *fifo) elapse(dt number) {
	if len(f.queue) > 0 {
		first := f.queue[0]
		f.left[first] = f.left[first].minus(dt)
	}
}

func (f *fifo) complete() int {
	first := f.queue[0]
	f.queue = f.queue[1:]
	return first
}

// srpt serves the job with the least estimated remaining size: its estimate less the service
// received. That is negative for an underestimated job, which then keeps the server until it
// completes.
type srpt struct {
	left     []number // true remaining sizes
	estimate []number
	queue    jobQueue // by estimated remaining size
}

func (s *srpt) arrive(job int) { s.queue.Push(queuedAt(s.estimate[job], job)) }

func (s *srpt) horizon() (number, bool) {
	if len(s.queue) == 0 {
		return zero, false
	}
	return s.left[s.queue[0].job], true
}

// elapse does not reorder the queue: only the key of the first job changes, and it
// decreases.
func (s *srpt) elapse(dt number) {
	if len(s.queue) == 0 {
		return
	}
	first := s.queue[0]
	s.left[first.job] = s.left[first.job].minus(dt)
	s.queue[0] = queuedAt(first.key.minus(dt), first.job)
}

func (s *srpt) complete() int { return s.queue.Pop().job }
