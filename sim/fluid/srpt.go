package fluid

// srpt serves the job with the least estimated remaining size: its estimate less the service
// received. That is negative for an underestimated job, which then keeps the server until it
// completes.
type srpt struct {
	left     []number // true remaining sizes
	estimate []number
	queue    jobQueue // by estimated remaining size
}

func (s *srpt) arrive(job int) { s.queue.add(queuedAt(s.estimate[job], job)) }

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

func (s *srpt) complete() int { return s.queue.take().job }
