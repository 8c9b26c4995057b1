package web

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
)

// Column is a column of a table: its name in URLs, its heading, and its values. A column has
// numbers or texts.
type Column[T any] struct {
	Name    string
	Heading string
	Number  func(T) float64
	Text    func(T) string
	Right   bool // its cells are on the right of the column
}

// cell returns the value of a row as text, for CSV.
func (c Column[T]) cell(row T) string {
	if c.Number != nil {
		return strconv.FormatFloat(c.Number(row), 'f', -1, 64)
	}
	return c.Text(row)
}

// compare orders two rows.
func (c Column[T]) compare(a, b T) int {
	if c.Number != nil {
		return cmp.Compare(c.Number(a), c.Number(b))
	}
	return cmp.Compare(c.Text(a), c.Text(b))
}

// JobColumns are the columns by which jobs can be sorted. The first identifies a job.
var JobColumns = []Column[apidoc.Job]{
	{Name: "jobId", Heading: "Job", Text: func(j apidoc.Job) string { return j.JobID }},
	{Name: "name", Heading: "Name", Text: func(j apidoc.Job) string { return j.Name }},
	{Name: "state", Heading: "State", Text: ShownState},
	{Name: "user", Heading: "User", Text: func(j apidoc.Job) string { return j.User }},
	{Name: "pool", Heading: "Pool", Text: func(j apidoc.Job) string { return j.Queue }},
	{Name: "priority", Heading: "Priority", Text: func(j apidoc.Job) string { return j.Priority }},
	{Name: "maps", Heading: "Maps", Number: func(j apidoc.Job) float64 { return j.Maps.Fraction }},
	{Name: "reduces", Heading: "Reduces", Number: func(j apidoc.Job) float64 { return j.Reduces.Fraction }},
	{Name: "submitTime", Heading: "Submitted", Number: func(j apidoc.Job) float64 { return float64(j.SubmitTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(j apidoc.Job) float64 { return float64(j.FinishTime) }},
}

// TaskColumns are the columns by which tasks can be sorted. The first identifies a task.
var TaskColumns = []Column[report.Task]{
	{Name: "id", Heading: "Task", Text: func(t report.Task) string { return t.ID }},
	{Name: "type", Heading: "Type", Text: func(t report.Task) string { return string(t.Type) }},
	{Name: "state", Heading: "State", Text: func(t report.Task) string { return string(t.State) }},
	{Name: "attempts", Heading: "Attempts", Right: true, Number: func(t report.Task) float64 { return float64(len(t.Attempts)) }},
	{Name: "node", Heading: "Node", Text: func(t report.Task) string { return lastAttempt(t).Tasknode }},
	{Name: "startTime", Heading: "Started", Number: func(t report.Task) float64 { return float64(lastAttempt(t).StartTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(t report.Task) float64 { return float64(lastAttempt(t).FinishTime) }},
	{Name: "duration", Heading: "Duration", Right: true, Number: func(t report.Task) float64 { return float64(duration(lastAttempt(t))) }},
}

// NodeColumns are the columns by which tasknodes can be sorted. The first identifies a tasknode.
var NodeColumns = []Column[apidoc.Tasknode]{
	{Name: "name", Heading: "Node", Text: func(n apidoc.Tasknode) string { return n.Name }},
	{Name: "state", Heading: "State", Text: func(n apidoc.Tasknode) string { return n.State }},
	{Name: "rack", Heading: "Rack", Text: func(n apidoc.Tasknode) string { return n.Rack }},
	{Name: "mapsRunning", Heading: "Map slots", Number: func(n apidoc.Tasknode) float64 { return float64(n.MapsRunning) }},
	{Name: "reducesRunning", Heading: "Reduce slots", Number: func(n apidoc.Tasknode) float64 { return float64(n.ReducesRunning) }},
	{Name: "load", Heading: "Load", Right: true, Number: func(n apidoc.Tasknode) float64 { return n.Load }},
	{Name: "memoryUsedMB", Heading: "Memory", Right: true, Number: func(n apidoc.Tasknode) float64 { return float64(n.MemoryUsedMB) }},
	{Name: "lastHeartbeat", Heading: "Last heartbeat", Number: func(n apidoc.Tasknode) float64 { return float64(n.LastHeartbeat) }},
}

// ShownState returns the state of a job as users see it: one of apidoc.JobStates, or
// apidoc.Suspended.
func ShownState(j apidoc.Job) string {
	if j.Suspended {
		return apidoc.Suspended
	}
	return j.State
}

// lastAttempt returns the latest attempt at a task, the zero value if it has none.
func lastAttempt(t report.Task) report.Attempt {
	if len(t.Attempts) == 0 {
		return report.Attempt{}
	}
	return t.Attempts[len(t.Attempts)-1]
}

// duration returns how long an attempt ran in ms, 0 if it runs or has not started.
func duration(a report.Attempt) int64 {
	if a.FinishTime == 0 {
		return 0
	}
	return a.FinishTime - a.StartTime
}

// cursor is the last row of a page. A row that is added to the list later does not move the rows
// after it.
type cursor struct {
	List   string `json:"l"` // which list: cluster or job
	Sort   string `json:"s"`
	Number float64
	Text   string
	ID     string
}

func (c cursor) String() string {
	text, _ := json.Marshal(c) // it has only texts and finite numbers
	return base64.RawURLEncoding.EncodeToString(text)
}

// PageOf returns one page of the rows that keep accepts, in the order of p, or byDefault if p names
// none. total is how many rows keep accepts, and next the cursor of the next page. list names the
// list, so that the cursor of another list is refused. PageOf does not change rows.
//
// It does not sort all rows, since there can be very many: a buffer has the first rows of the page so
// far, and is sorted and cut when it is full. Rows after those are then skipped.
func PageOf[T any](rows []T, keep func(*T) bool, columns []Column[T], p Page, byDefault, list string) (page []T, total int, next string, err error) {
	sort := cmp.Or(p.Sort, byDefault)
	name, descending := strings.CutPrefix(sort, "-")
	i := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == name })
	if i < 0 {
		return nil, 0, "", fmt.Errorf("no column %q", name)
	}
	column, id := columns[i], columns[0]
	var c cursor
	if p.Cursor != "" {
		if c, err = parseCursor(p.Cursor, list, sort); err != nil {
			return nil, 0, "", err
		}
	}
	order := func(a, b T) int {
		d := column.compare(a, b)
		if descending {
			d = -d
		}
		return cmp.Or(d, cmp.Compare(id.Text(a), id.Text(b)))
	}
	limit := min(cmp.Or(p.Limit, DefaultLimit), MaxLimit)
	buffer, cut := make([]T, 0, 2*limit+2), false // after a cut, buffer[limit] is the last row that matters
	for i := range rows {
		if !keep(&rows[i]) {
			continue
		}
		total++
		if p.Cursor != "" && compareCursor(rows[i], c, column, id, descending) <= 0 || cut && order(rows[i], buffer[limit]) > 0 {
			continue
		}
		if buffer = append(buffer, rows[i]); len(buffer) == cap(buffer) {
			slices.SortFunc(buffer, order)
			buffer, cut = buffer[:limit+1], true
		}
	}
	slices.SortFunc(buffer, order)
	if len(buffer) <= limit {
		return buffer, total, "", nil
	}
	last := buffer[limit-1]
	c = cursor{List: list, Sort: sort, ID: id.Text(last)}
	if column.Number != nil {
		c.Number = column.Number(last)
	} else {
		c.Text = column.Text(last)
	}
	return buffer[:limit], total, c.String(), nil
}

// compareCursor is negative for rows before the cursor, 0 for its row, and positive for rows after it.
func compareCursor[T any](row T, c cursor, column, id Column[T], descending bool) int {
	var d int
	if column.Number != nil {
		d = cmp.Compare(column.Number(row), c.Number)
	} else {
		d = cmp.Compare(column.Text(row), c.Text)
	}
	if descending {
		d = -d
	}
	return cmp.Or(d, cmp.Compare(id.Text(row), c.ID))
}

// parseCursor refuses cursors of other lists and of other orders.
func parseCursor(text, list, sort string) (c cursor, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(data, &c) != nil || c.List != list || c.Sort != sort {
		return c, fmt.Errorf("cursor: %w", ErrCursor)
	}
	return c, nil
}

// SelectJobs returns the page of jobs that a query selects. cluster is the id of the cluster.
func SelectJobs(all []apidoc.Job, q JobQuery, cluster string) (page JobPage, err error) {
	page.States = make(map[string]int)
	text := strings.ToLower(q.Text)
	keep := func(j *apidoc.Job) bool {
		shown := ShownState(*j)
		page.States[shown]++
		switch {
		case len(q.States) > 0 && !contains(q.States, shown) && !contains(q.States, j.State):
		case q.User != "" && q.User != j.User, q.Pool != "" && q.Pool != j.Queue:
		case text != "" && !strings.Contains(strings.ToLower(j.JobID), text) && !strings.Contains(strings.ToLower(j.Name), text):
		default:
			return true
		}
		return false
	}
	page.Jobs, page.Total, page.Next, err = PageOf(all, keep, JobColumns, q.Page, "-submitTime", cluster)
	return page, err
}

// SelectTasks returns the page of tasks that a query selects.
func SelectTasks(all []report.Task, q TaskQuery, job string) (page TaskPage, err error) {
	page.States = make(map[string]int)
	keep := func(t *report.Task) bool {
		page.States[string(t.State)]++
		return (q.State == "" || q.State == string(t.State)) && (q.Type == "" || q.Type == string(t.Type)) &&
			(q.Node == "" || slices.ContainsFunc(t.Attempts, func(a report.Attempt) bool { return a.Tasknode == q.Node }))
	}
	page.Tasks, page.Total, page.Next, err = PageOf(all, keep, TaskColumns, q.Page, "id", job)
	return page, err
}
