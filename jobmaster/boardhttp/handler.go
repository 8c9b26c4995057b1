// Package boardhttp serves the board of a master as JSON over HTTP. Every master answers from its
// own board, so a question costs the leader nothing.
//
//	/board/jobs                   jobs, by state, user, pool or a part of the name
//	/board/jobs/JOB               a job and its stages
//	/board/jobs/JOB/tasks         its tasks, by stage, state, machine or place
//	/board/jobs/JOB/summary       quantiles over its finished tasks, by stage or by machine
//	/board/jobs/JOB/events        what has happened to its attempts
//	/board/jobs/JOB/tasks/TASK    the attempts at a task
//
// Lists are sorted and divided into pages here, so that a job of 100,000 tasks costs a reader no
// more than one of 100. The handler does not check its callers.
package boardhttp

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster/board"
)

// New returns a handler of the paths below /board/.
func New(b *board.Board) http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*request) (any, error){
		"GET /board/jobs":                  (*request).jobs,
		"GET /board/jobs/{job}":            (*request).job,
		"GET /board/jobs/{job}/tasks":      (*request).tasks,
		"GET /board/jobs/{job}/summary":    (*request).summary,
		"GET /board/jobs/{job}/events":     (*request).events,
		"GET /board/jobs/{job}/tasks/{id}": (*request).attempts,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			q := &request{Snapshot: b.Snapshot(), http: r, values: r.URL.Query()}
			body, err := answer(q)
			if err = cmp.Or(q.err, err); err != nil {
				refuse(w, err)
				return
			}
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			_ = json.NewEncoder(w).Encode(body) // the caller may have disconnected
		})
	}
	return mux
}

// refuse answers a request with an error: 404 for an id that is unknown, else 400.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	if errors.Is(err, cluster.ErrUnknown) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), status)
}

// request is a question about a snapshot.
type request struct {
	*board.Snapshot
	http   *http.Request
	values url.Values
	err    error // faults of the parameters
}

// parsed returns a parameter as parse reads it; the zero value if it is missing. A fault is added
// to r.err.
func parsed[T any](r *request, name string, parse func(text string) (T, error)) (value T) {
	text := r.values.Get(name)
	if text == "" {
		return value
	}
	value, err := parse(text)
	if err != nil {
		r.err = errors.Join(r.err, &parameterError{name, text, err})
	}
	return value
}

// parameterError is a fault of a parameter.
type parameterError struct {
	name, text string
	cause      error
}

func (e *parameterError) Error() string {
	return "parameter " + e.name + "=" + strconv.Quote(e.text) + ": " + e.cause.Error()
}

func (e *parameterError) Unwrap() error { return e.cause }

// number reads a number that is not negative.
func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, errors.New("want a number from 0")
	}
	return n, nil
}

// oneOf reads one of some values by its text.
func oneOf[T interface{ String() string }](values ...T) func(text string) (T, error) {
	return func(text string) (none T, err error) {
		names := make([]string, len(values))
		for i, v := range values {
			if names[i] = v.String(); strings.EqualFold(names[i], text) {
				return v, nil
			}
		}
		return none, errors.New("want one of " + strings.Join(names, ", "))
	}
}

// listOf reads values that are separated by commas.
func listOf[T any](parse func(text string) (T, error)) func(text string) ([]T, error) {
	return func(text string) (values []T, err error) {
		for part := range strings.SplitSeq(text, ",") {
			v, err := parse(part)
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		return values, nil
	}
}

// order reads sort (a column, with "-" before it to see the highest value first), limit and after.
func (r *request) order() board.Order {
	by, descending := strings.CutPrefix(r.values.Get("sort"), "-")
	return board.Order{
		By: board.Column(by), Descending: descending, Limit: int(parsed(r, "limit", number)), After: parsed(r, "after", parseCursor),
	}
}

// parseCursor reads a cursor as printCursor has written it.
func parseCursor(text string) (*board.Cursor, error) {
	parts := strings.Split(text, ".")
	var numbers [3]int64
	if len(parts) != len(numbers) {
		return nil, errors.New("want the value of next in the answer before")
	}
	for i, part := range parts {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, errors.New("want the value of next in the answer before")
		}
		numbers[i] = n
	}
	return &board.Cursor{Value: numbers[0], Stage: int(numbers[1]), Number: int(numbers[2])}, nil
}

// printCursor returns a cursor as text; "" for nil.
func printCursor(c *board.Cursor) string {
	if c == nil {
		return ""
	}
	return strconv.FormatInt(c.Value, 10) + "." + strconv.Itoa(c.Stage) + "." + strconv.Itoa(c.Number)
}

// jobID returns the id of the job in the path.
func (r *request) jobID() cluster.JobID {
	id, err := cluster.ParseJobID(r.http.PathValue("job"))
	if err != nil {
		r.err = errors.Join(r.err, err)
	}
	return id
}

func (r *request) jobs() (any, error) {
	page, err := r.List(board.JobFilter{
		States: parsed(r, "state", listOf(oneOf(jobStates...))), User: r.values.Get("user"), Pool: r.values.Get("pool"), Name: r.values.Get("name"),
	}, r.order())
	if err != nil {
		return nil, err
	}
	out := list[jobView]{At: r.At.UnixMilli(), Total: page.Total, Next: printCursor(page.Next), Rows: []jobView{}}
	for _, j := range page.Jobs {
		out.Rows = append(out.Rows, viewOfJob(j, r.At.UnixMilli()))
	}
	return out, nil
}

func (r *request) job() (any, error) {
	id := r.jobID()
	j := r.Job(id)
	if j == nil {
		return nil, unknown(id)
	}
	return viewOfJob(j, r.At.UnixMilli()), nil
}

func (r *request) tasks() (any, error) {
	page, err := r.Tasks(r.jobID(), board.TaskFilter{
		Stage: r.values.Get("stage"), States: parsed(r, "state", listOf(oneOf(taskStates...))),
		Machine: r.values.Get("machine"), Place: parsed(r, "place", oneOf(board.PlaceNode, board.PlaceRack, board.PlaceOther, board.PlaceAny)),
	}, r.order())
	if err != nil {
		return nil, err
	}
	out := list[taskView]{At: r.At.UnixMilli(), Total: page.Total, Next: printCursor(page.Next), Rows: []taskView{}}
	for _, t := range page.Tasks {
		out.Rows = append(out.Rows, viewOfTask(t))
	}
	return out, nil
}

func (r *request) summary() (any, error) {
	by := parsed(r, "by", oneOf(text("stage"), text("machine")))
	groups, err := r.Summary(r.jobID(), by == "machine")
	return list[board.Group]{At: r.At.UnixMilli(), Total: len(groups), Rows: groups}, err
}

func (r *request) events() (any, error) {
	limit := min(cmp.Or(int(parsed(r, "limit", number)), board.DefaultLimit), board.MaxLimit)
	found, complete, err := r.Events(r.jobID(), board.EventFilter{From: parsed(r, "from", number), To: parsed(r, "to", number), Limit: limit})
	if err != nil {
		return nil, err
	}
	out := eventList{At: r.At.UnixMilli(), Complete: complete, Rows: []eventView{}}
	for e := range found {
		out.Rows = append(out.Rows, viewOfEvent(e))
	}
	return out, nil
}

func (r *request) attempts() (any, error) {
	job := r.jobID()
	id, err := cluster.ParseTaskID(r.http.PathValue("id"))
	if err != nil || id.Job != job {
		return nil, errors.Join(err, errors.New("the path has a task of another job"))
	}
	found, err := r.Attempts(id)
	if err != nil {
		return nil, err
	}
	out := list[attemptView]{At: r.At.UnixMilli(), Total: len(found), Rows: []attemptView{}}
	for _, a := range found {
		out.Rows = append(out.Rows, viewOfAttempt(a))
	}
	return out, nil
}
