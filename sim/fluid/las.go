package fluid

// las serves the jobs that have received the least service, equally.
//
// Jobs with the same service are a group, and groups are a stack. The top group has received
// the least and is served. Its level rises until one of its jobs completes, or until it
// meets the level of the group below and both merge. A new job has received nothing, so it
// starts on top.
type las struct {
	size   []number
	groups []*group // levels decrease strictly towards the top, which is the last
}

// group is the jobs that have received the same service.
type group struct {
	level number   // service that each has received
	queue jobQueue // by size: the first completes first
}

func (l *las) top() *group { return l.groups[len(l.groups)-1] }

func (l *las) arrive(job int) {
	if len(l.groups) == 0 || zero.less(l.top().level) {
		l.groups = append(l.groups, &group{level: zero})
	}
	l.top().queue.Push(queuedAt(l.size[job], job))
}

func (l *las) horizon() (number, bool) {
	if len(l.groups) == 0 {
		return zero, false
	}
	level, _ := l.nextLevel()
	return l.top().level.until(level).times(count(len(l.top().queue))), true
}

// nextLevel returns the level at which the top group stops rising, and whether it meets the
// group below there.
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

// A merge is a change of order in which no job completes.
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
	job := top.queue.Pop().job
	if len(top.queue) == 0 {
		l.groups = l.groups[:len(l.groups)-1]
	}
	return job
}

// merge joins the top group and the one below. The smaller group moves, so each job moves at
// most a logarithmic number of times.
func (l *las) merge() {
	top := l.top()
	l.groups = l.groups[:len(l.groups)-1]
	below := l.top()
	small, large := top.queue, below.queue
	if len(small) > len(large) {
		small, large = large, small
	}
	for _, p := range small {
		large.Push(p)
	}
	below.queue = large
}
