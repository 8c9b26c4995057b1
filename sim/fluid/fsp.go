package fluid

// fsp serves jobs one after the other in the order in which they would be done
// under ps, which it runs beside on what the sizes are believed to be. With
// right estimates no job is done later than under ps itself.
//
// A job that is done there and not here is late: more of it is left than was
// believed. Late jobs come before all others. Served fifo, in the order in which
// they became late, this is FSP as in HFSP; sharing by weight it is PSBS
// (Dell'Amico, Carra and Michiardi, "PSBS: Practical Size-Based Scheduling",
// IEEE Trans. Computers, 2015), where one late giant does not block the rest.
type fsp struct {
	left    []number // really, of each job
	done    []bool   // really
	virtual ps       // of estimates
	queue   jobQueue // neither done nor late, by place in belief
	late    discipline
}

// newFSP takes a discipline for late jobs, one that finds in the demands' sizes
// what is left of a job when it arrives.
func newFSP(d demands, late discipline) *fsp {
	return &fsp{
		left: d.size, done: make([]bool, len(d.size)),
		virtual: ps{size: d.estimate, weight: d.weight},
		late:    late,
	}
}

func (f *fsp) arrive(job int) { f.queue.add(f.virtual.enter(job)) }

func (f *fsp) horizon() (number, bool) {
	real, busy := f.realHorizon()
	believed, any := f.virtual.horizon()
	if any && (!busy || believed.less(real)) {
		return believed, true
	}
	return real, busy
}

// realHorizon is how long it is until a job is really done, if no other becomes
// late before.
func (f *fsp) realHorizon() (number, bool) {
	if dt, any := f.late.horizon(); any {
		return dt, true
	}
	if len(f.queue) == 0 {
		return zero, false
	}
	return f.left[f.queue[0].job], true
}

func (f *fsp) elapse(dt number) {
	f.virtual.elapse(dt)
	f.serve(dt)
}

// serve serves who is really served.
func (f *fsp) serve(dt number) {
	if _, any := f.late.horizon(); any {
		f.late.elapse(dt)
	} else if len(f.queue) > 0 {
		first := f.queue[0].job
		f.left[first] = f.left[first].minus(dt)
	}
}

func (f *fsp) complete() int {
	real, busy := f.realHorizon()
	believed, any := f.virtual.horizon()
	if any && (!busy || believed.less(real)) {
		f.serve(believed)
		f.becomeLate(f.virtual.complete())
		return noJob
	}
	f.virtual.elapse(real)
	job := f.takeFinished()
	f.done[job] = true
	return job
}

// becomeLate notes that a job is done in belief. If it really is not it is the
// first in the queue, which is in the same order.
func (f *fsp) becomeLate(job int) {
	if !f.done[job] {
		f.queue.take()
		f.late.arrive(job)
	}
}

// takeFinished takes out the job that is really done now.
func (f *fsp) takeFinished() int {
	if _, any := f.late.horizon(); any {
		return f.late.complete()
	}
	return f.queue.take().job
}
