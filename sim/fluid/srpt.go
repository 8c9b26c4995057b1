package fluid

// srpt serves the job of which the least seems to be left: its estimate less
// the service it has got. That goes below 0 for a job that was underestimated,
// which then keeps the server until it is done.
type srpt struct {
	left     []number // really
	estimate []number
	queue    jobQueue // by what seems to be left
}

func (s *srpt) arrive(job int) { s.queue.add(queuedAt(s.estimate[job], job)) }

func (s *srpt) horizon() (number, bool) {
	if len(s.queue) == 0 {
		return zero, false
	}
	return s.left[s.queue[0].job], true
}

// elapse leaves the first the first, since its place falls and no other does.
func (s *srpt) elapse(dt number) {
	if len(s.queue) == 0 {
		return
	}
	first := s.queue[0]
	s.left[first.job] = s.left[first.job].minus(dt)
	s.queue[0] = queuedAt(first.key.minus(dt), first.job)
}

func (s *srpt) complete() int { return s.queue.take().job }
