package fair

// admit lets jobs run in their order, as far as users and pools may have more of
// them. One that may not is in the way of none behind it. The answer is the jobs
// for which that has changed.
func (p *Policy) admit() (changed []*entry) {
	limited := p.conf.Allocations.Limited()
	users, queues := make(map[string]int), make(map[*queue]int)
	for _, e := range p.line {
		admitted := !limited || users[e.user] < p.conf.Allocations.UserMax(e.user) && fits(e.queue, queues)
		if admitted && limited {
			users[e.user]++
			for q := e.queue; q != nil; q = q.parent {
				queues[q]++
			}
		}
		if admitted != e.admitted {
			e.admitted = admitted
			changed = append(changed, e)
		}
	}
	return changed
}

// fits reports whether one job more may run in a queue and all that it is in.
func fits(q *queue, running map[*queue]int) bool {
	for ; q != nil; q = q.parent {
		if running[q] >= q.MaxRunning {
			return false
		}
	}
	return true
}
