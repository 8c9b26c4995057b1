package fluid

// las serves the jobs that have got the least service, equally.
//
// Jobs that have got the same are a group, and groups are a stack: the top has
// got least and is served. It rises until a job of it is done or it has got as
// much as the group below, and then both are one. A new job has got nothing, so
// it comes on top.
type las struct {
	size   []number
	groups []*group // levels fall strictly to the top, which is the last
}

// group is jobs that have got the same service.
type group struct {
	level number   // what each has got
	queue jobQueue // by size, so that the first is done first
}

func (l *las) top() *group { return l.groups[len(l.groups)-1] }

func (l *las) arrive(job int) {
	if len(l.groups) == 0 || zero.less(l.top().level) {
		l.groups = append(l.groups, &group{level: zero})
	}
	l.top().queue.add(queuedAt(l.size[job], job))
}

func (l *las) horizon() (number, bool) {
	if len(l.groups) == 0 {
		return zero, false
	}
	level, _ := l.nextLevel()
	return l.top().level.until(level).times(count(len(l.top().queue))), true
}

// nextLevel is the level up to which the top rises, and whether it meets the group
// below there.
func (l *las) nextLevel() (level number, meets bool) {
	size := l.top().queue[0].key
	if len(l.groups) > 1 {
		if below := l.groups[len(l.groups)-2]; below.level.less(size) {
			return below.level, true
		}
	}
	return size, false
}

func (l *las) elapse(dt number) {
	if len(l.groups) > 0 {
		top := l.top()
		top.level = top.level.plus(dt.over(count(len(top.queue))))
	}
}

func (l *las) complete() int {
	top := l.top()
	level, meets := l.nextLevel()
	if meets {
		l.merge()
		return noJob
	}
	if top.level.less(level) {
		top.level = level
	}
	job := top.queue.take().job
	if len(top.queue) == 0 {
		l.groups = l.groups[:len(l.groups)-1]
	}
	return job
}

// merge makes the top part of the group below. The smaller moves, so a job
// moves a logarithmic number of times at most.
func (l *las) merge() {
	top := l.top()
	l.groups = l.groups[:len(l.groups)-1]
	below := l.top()
	small, large := top.queue, below.queue
	if len(small) > len(large) {
		small, large = large, small
	}
	for _, p := range small {
		large.add(p)
	}
	below.queue = large
}
