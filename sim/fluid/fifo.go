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
