package board

import (
	"cmp"
	"slices"
)

// Order says which rows of a list a reader gets, and in which order. Rows with the same value are
// in the order of their ids. Rows without a value, such as the end of a running job, have the
// value 0.
type Order struct {
	By         Column  // default ByID
	Descending bool    // the highest value first
	After      *Cursor // the rows after this one; nil: from the beginning
	Limit      int     // rows at most; default DefaultLimit, at most MaxLimit
}

// Limits of the rows of one page.
const (
	DefaultLimit = 100
	MaxLimit     = 10_000
)

// limit returns the number of rows at most.
func (o Order) limit() int {
	if o.Limit <= 0 {
		return DefaultLimit
	}
	return min(o.Limit, MaxLimit)
}

// Cursor names a row by its value in a column and its id. A page after a cursor is right even if
// rows were added or have changed since: it has the rows that come after that value.
type Cursor struct {
	Value  int64 `json:"value"`
	Stage  int   `json:"stage,omitempty"` // place in the stages of the job; 0 for a job
	Number int   `json:"number"`          // of the task, or of the job
}

// Column is a number by which rows are ordered.
type Column string

const (
	ByID        Column = "id"
	ByStart     Column = "start"
	ByEnd       Column = "end"
	ByDuration  Column = "duration"
	ByState     Column = "state"
	ByBytes     Column = "bytes"    // of tasks
	ByRecords   Column = "records"  // of tasks
	ByIn        Column = "in"       // of tasks
	BySpilled   Column = "spilled"  // of tasks
	ByAttempts  Column = "attempts" // of tasks
	ByPriority  Column = "priority" // of jobs
	ByTasks     Column = "tasks"    // of jobs
	ByRunning   Column = "running"  // of jobs: tasks that run
	ByWaiting   Column = "waiting"  // of jobs: tasks that wait for a slot
	ByPreempted Column = "lost"     // of jobs: slot time that preemptions have lost
)

// selection selects the first rows after a cursor. It keeps at most twice as many as are wanted,
// however many it gets.
type selection struct {
	order Order
	kept  []Cursor
	worst *Cursor // the last of the rows that may be on the page, once there are enough
	total int     // rows that it got, before the cursor too
	more  bool    // there are more than fit on the page
}

// compare orders two rows.
func (s *selection) compare(a, b Cursor) int {
	byValue := cmp.Compare(a.Value, b.Value)
	if s.order.Descending {
		byValue = -byValue
	}
	return cmp.Or(byValue, cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Number, b.Number))
}

// add offers a row.
func (s *selection) add(row Cursor) {
	s.total++
	if s.order.After != nil && s.compare(row, *s.order.After) <= 0 {
		return
	}
	if s.worst != nil && s.compare(row, *s.worst) > 0 {
		s.more = true
		return
	}
	s.kept = append(s.kept, row)
	if len(s.kept) >= 2*s.order.limit() {
		s.shrink()
	}
}

// shrink drops the rows that are not on the page.
func (s *selection) shrink() {
	slices.SortFunc(s.kept, s.compare)
	if n := s.order.limit(); len(s.kept) > n {
		s.kept, s.more = s.kept[:n], true
		worst := s.kept[n-1]
		s.worst = &worst
	}
}

// page returns the selected rows, and the cursor for the next page, nil if there is none.
func (s *selection) page() (rows []Cursor, next *Cursor) {
	s.shrink()
	if s.more {
		last := s.kept[len(s.kept)-1]
		next = &last
	}
	return s.kept, next
}
