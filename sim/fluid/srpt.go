package fluid

// srpt serves the job of which the least seems to be left: its estimate less
// the service it has got. That goes below 0 for a job that was underestimated,
// which then keeps the server until it is done.
type srpt struct {
	left     []number // really
	estimate []number
	line     line // by what seems to be left
}

func (s *srpt) arrive(job int) { s.line.add(at(s.estimate[job], job)) }

func (s *srpt) horizon() (number, bool) {
	if len(s.line) == 0 {
		return zero, false
	}
	return s.left[s.line[0].job], true
}

// pass leaves the first the first, since its place falls and no other does.
func (s *srpt) pass(dt number) {
	if len(s.line) == 0 {
		return
	}
	first := s.line[0]
	s.left[first.job] = s.left[first.job].minus(dt)
	s.line[0] = at(first.at.minus(dt), first.job)
}

func (s *srpt) happen() int { return s.line.take().job }
