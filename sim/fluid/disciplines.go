package fluid

import (
	"fmt"
	"slices"
	"strings"
)

// discipline says which of the waiting jobs get service until the next event. There is at
// least one of them.
type discipline struct {
	name   string
	served func(s *server) []int
	// weighted jobs are served in proportion to their weights, others equally.
	weighted bool
	// virtual disciplines look at a second server, which serves all jobs by weight until
	// their estimates are complete.
	virtual bool
}

// disciplines is in the order of documentation.
//
// fsp and psbs serve jobs one after the other, in the order in which the virtual server
// completes them. A job is late if it is complete there but not here: its size was
// underestimated. Late jobs come before all others. With fifo among late jobs this is FSP as
// in HFSP. With ps among them it is PSBS (Dell'Amico, Carra and Michiardi, "PSBS: Practical
// Size-Based Scheduling", IEEE Trans. Computers, 2015), where one large late job does not
// block the rest.
var disciplines = []discipline{
	{name: "fifo", served: func(s *server) []int { return s.waiting[:1] }},
	{name: "ps", served: func(s *server) []int { return s.waiting }, weighted: true},
	{name: "srpt", served: func(s *server) []int { return s.least(s.estimateLeft)[:1] }},
	{name: "fsp", virtual: true, served: func(s *server) []int {
		if len(s.late) > 0 {
			return s.late[:1]
		}
		return s.least(s.virtualLeft)[:1]
	}},
	{name: "psbs", virtual: true, weighted: true, served: func(s *server) []int {
		if len(s.late) > 0 {
			return s.late
		}
		return s.least(s.virtualLeft)[:1]
	}},
	{name: "las", served: func(s *server) []int { return s.least(s.receivedBy) }},
}

// estimateLeft is negative for an underestimated job, which then keeps the server until it
// completes.
func (s *server) estimateLeft(job int) number { return s.estimate[job].minus(s.received[job]) }

// virtualLeft is the service that a job of weight 1 receives in the virtual server until this
// job completes there.
func (s *server) virtualLeft(job int) number { return s.believed[job].over(s.weight[job]) }

func (s *server) receivedBy(job int) number { return s.received[job] }

// least returns the waiting jobs for which a value is least, by arrival.
func (s *server) least(of func(job int) number) (least []int) {
	var value number
	for _, job := range s.waiting {
		switch v := of(job); {
		case len(least) == 0 || v.clearlyLess(value):
			least, value = append(least[:0], job), v
		case !value.clearlyLess(v):
			least = append(least, job)
		}
	}
	return least
}

// Disciplines lists the names that Sojourns accepts.
func Disciplines() []string {
	names := make([]string, len(disciplines))
	for i, d := range disciplines {
		names[i] = d.name
	}
	return names
}

// CheckDiscipline reports an unknown name.
func CheckDiscipline(name string) error {
	if !slices.Contains(Disciplines(), name) {
		return fmt.Errorf("unknown discipline %q; known are %s", name, strings.Join(Disciplines(), ", "))
	}
	return nil
}
