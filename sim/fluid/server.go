package fluid

import (
	"cmp"
	"fmt"
	"slices"
)

// Sojourns returns the time from arrival to completion of each job, in seconds and in the
// order of jobs. It returns an error for an unknown discipline or a job that Job does not
// allow.
func Sojourns(discipline string, jobs []Job) ([]float64, error) {
	if err := CheckDiscipline(discipline); err != nil {
		return nil, err
	}
	in := newJobCheck()
	for i, j := range jobs {
		if err := in.admit(j, fmt.Sprintf("place %d", i+1)); err != nil {
			return nil, fmt.Errorf("place %d: %w", i+1, err)
		}
	}
	order := arrivalOrder(jobs)
	s := newServer(disciplines[slices.Index(Disciplines(), discipline)], jobs, order)
	s.run()
	sojourns := make([]float64, len(jobs))
	for job, place := range order {
		sojourns[place] = s.arrivals[job].until(s.completed[job]).float()
	}
	return sojourns, nil
}

// arrivalOrder returns the indexes of jobs, by arrival and then id.
func arrivalOrder(jobs []Job) []int {
	order := make([]int, len(jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].ArrivalS, jobs[b].ArrivalS), cmp.Compare(jobs[a].ID, jobs[b].ID))
	})
	return order
}

// server is the state between two events. Jobs are numbered by arrival from 0, and slices of
// numbers are by job.
type server struct {
	discipline
	arrivals, estimate, weight []number

	left, received []number
	believed       []number // estimated work that is left in the virtual server
	completed      []number // times

	waiting []int // jobs that have arrived and are not complete, by arrival
	unreal  []int // jobs that are not complete in the virtual server, by arrival
	late    []int // jobs that are complete there and not here, in the order of these events
}

func newServer(d discipline, jobs []Job, order []int) *server {
	s := &server{discipline: d, received: make([]number, len(jobs)), completed: make([]number, len(jobs))}
	for _, place := range order {
		j := jobs[place]
		s.arrivals, s.weight = append(s.arrivals, decimal(j.ArrivalS)), append(s.weight, decimal(j.Weight))
		s.left, s.estimate = append(s.left, decimal(j.SizeS)), append(s.estimate, decimal(j.EstimateS))
	}
	s.believed = slices.Clone(s.estimate)
	return s
}

// run lets all jobs arrive and complete. A completion at the moment of an arrival comes first,
// whatever rounding says. Under las, for one, that job would otherwise wait for the new one.
func (s *server) run() {
	now := zero
	for next := 0; next < len(s.arrivals) || len(s.waiting) > 0; {
		real, virtual := s.shares()
		dt, busy := s.horizon(real, virtual)
		if next < len(s.arrivals) {
			if gap := now.until(s.arrivals[next]); !busy || gap.clearlyLess(dt) {
				now = s.arrivals[next]
				s.elapse(now, gap, real, virtual)
				s.arrive(next)
				next++
				continue
			}
		}
		now = now.plus(dt)
		s.elapse(now, dt, real, virtual)
	}
}

func (s *server) arrive(job int) {
	s.received[job] = zero
	s.waiting = append(s.waiting, job)
	if s.virtual {
		s.unreal = append(s.unreal, job)
	}
}

// share is a job's part of a server.
type share struct {
	job  int
	rate number // above 0
	end  number // time until the job is complete, if no event comes before
}

// shares returns the parts of the server, and those of the virtual server.
func (s *server) shares() (real, virtual []share) {
	if len(s.waiting) > 0 {
		real = s.divide(s.served(s), s.weighted, s.left)
	}
	return real, s.divide(s.unreal, true, s.believed)
}

// divide divides a server among jobs with work that is left, by weight or equally.
func (s *server) divide(jobs []int, weighted bool, left []number) []share {
	shares, total := make([]share, len(jobs)), zero
	for i, job := range jobs {
		shares[i] = share{job: job, rate: one}
		if weighted {
			shares[i].rate = s.weight[job]
		}
		total = total.plus(shares[i].rate)
	}
	for i := range shares {
		part := &shares[i]
		part.rate = part.rate.over(total)
		part.end = zero.until(left[part.job]).over(part.rate)
	}
	return shares
}

// horizon returns the time until the next event, if no job arrives: a completion here or in
// the virtual server, or under las, that the served jobs have received as much as another one.
// busy is false if there is none.
func (s *server) horizon(real, virtual []share) (dt number, busy bool) {
	shorten := func(t number) {
		if !busy || t.less(dt) {
			dt, busy = t, true
		}
	}
	for _, part := range real {
		shorten(part.end)
	}
	for _, part := range virtual {
		shorten(part.end)
	}
	if s.name == "las" && len(real) < len(s.waiting) {
		level := s.received[real[0].job]
		for _, job := range s.waiting {
			if level.clearlyLess(s.received[job]) {
				shorten(s.received[job].minus(level).over(real[0].rate))
			}
		}
	}
	return dt, busy
}

// elapse lets dt pass, until now, and handles the completions at its end.
func (s *server) elapse(now, dt number, real, virtual []share) {
	for _, part := range real {
		job, service := part.job, dt.times(part.rate)
		s.left[job], s.received[job] = s.left[job].minus(service), s.received[job].plus(service)
		if !dt.clearlyLess(part.end) {
			s.completed[job] = now
			s.waiting, s.late = without(s.waiting, job), without(s.late, job)
		}
	}
	for _, part := range virtual {
		job := part.job
		s.believed[job] = s.believed[job].minus(dt.times(part.rate))
		if dt.clearlyLess(part.end) {
			continue
		}
		s.unreal = without(s.unreal, job)
		if slices.Contains(s.waiting, job) {
			s.late = append(s.late, job)
		}
	}
}

// without returns the other jobs of a list, which may lack the job.
func without(jobs []int, job int) []int {
	if i := slices.Index(jobs, job); i >= 0 {
		return slices.Delete(jobs, i, i+1)
	}
	return jobs
}
