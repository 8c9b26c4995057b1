package fluid

// fsp serves jobs one after the other, in the order of their completion under ps with the
// estimated sizes. It runs that ps as a virtual server. With exact estimates no job
// completes later than under ps.
//
// A job is late if it is complete in the virtual server but not here: its size was
// underestimated. Late jobs are served before all others. With fifo among late jobs this is
// FSP as in HFSP. With ps among them it is PSBS (Dell'Amico, Carra and Michiardi, "PSBS:
// Practical Size-Based Scheduling", IEEE Trans. Computers, 2015), where one large late job
// does not block the rest.
//
//	arrive ─► virtual ps and queue ── complete in both ──► done
//	               └── complete in virtual first ─► late ── complete ─► done
type fsp struct {
	left    []number // remaining true size of each job
	done    []bool   // by true size
	virtual ps       // with the estimates
	queue   jobQueue // neither done nor late, by completion in virtual
	late    discipline
}

// newFSP takes the discipline of late jobs. When a job becomes late, that discipline finds
// its remaining size in demands.size.
func newFSP(d demands, late discipline) *fsp {
	return &fsp{
		left: d.size, done: make([]bool, len(d.size)),
		virtual: ps{size: d.estimate, weight: d.weight},
		late:    late,
	}
}

func (f *fsp) arrive(job int) { f.queue.Push(f.virtual.enter(job)) }

// The next change is a completion here or in the virtual server, whichever comes first.
func (f *fsp) horizon() (number, bool) {
	real, busy := f.realHorizon()
	believed, any := f.virtual.horizon()
	if any && (!busy || believed.less(real)) {
		return believed, true
	}
	return real, busy
}

// realHorizon returns the time until a job is really complete, if no other becomes late
// before.
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

// serve gives dt of service to the late jobs, or else to the first in the queue.
func (f *fsp) serve(dt number) {
	if _, any := f.late.horizon(); any {
		f.late.elapse(dt)
	} else if len(f.queue) > 0 {
		first := f.queue[0].job
		f.left[first] = f.left[first].minus(dt)
	}
}

// A completion in the virtual server makes a job late, but no job ends.
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

// becomeLate handles a completion in the virtual server. If the job is not really done it is
// the first in the queue, since both have the same order.
func (f *fsp) becomeLate(job int) {
	if !f.done[job] {
		f.queue.Pop()
		f.late.arrive(job)
	}
}

// takeFinished removes the job that is really complete now.
func (f *fsp) takeFinished() int {
	if _, any := f.late.horizon(); any {
		return f.late.complete()
	}
	return f.queue.Pop().job
}
