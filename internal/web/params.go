package web

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/hostfile"
)

// Param is a parameter of a Route. A parameter whose name is in the path is a part of the path;
// others are in the query of a GET, and in the form of a POST.
type Param struct {
	Name     string
	Doc      string // one phrase
	Default  string
	Enum     []string // the accepted values, in any case of letters; nil for any text
	Max      int      // if not 0, the value is a number from 1 to Max
	Zero     bool     // the number may be 0 too
	List     bool     // several values, joined by commas
	Required bool     // an empty value is refused
	Duration bool     // the value is a time, as 10m
}

// maxDuration bounds a time that is a parameter.
const maxDuration = 30 * 24 * time.Hour

// maxParam bounds a parameter in bytes.
const maxParam = 512

// check returns the value as handlers get it, or why it is wrong.
func (p *Param) check(value string) (string, error) {
	if value == "" {
		if p.Required {
			return "", &badParam{p.Name, "is missing: " + p.Doc}
		}
		return p.Default, nil
	}
	if len(value) > maxParam {
		return "", &badParam{p.Name, fmt.Sprintf("has %d bytes; at most %d are accepted", len(value), maxParam)}
	}
	if p.Max > 0 {
		least := 1
		if p.Zero {
			least = 0
		}
		if n, err := strconv.Atoi(value); err != nil || n < least || n > p.Max {
			return "", &badParam{p.Name, fmt.Sprintf("%q: expected a number from %d to %d", value, least, p.Max)}
		}
		return value, nil
	}
	if p.Duration {
		if d, err := time.ParseDuration(value); err != nil || d < time.Second || d > maxDuration {
			return "", &badParam{p.Name, fmt.Sprintf("%q: expected a time from 1s to %v, as 10m or 2h30m", value, maxDuration)}
		}
	}
	if p.Enum == nil {
		return value, nil
	}
	parts := []string{value}
	if p.List {
		parts = strings.Split(value, ",")
	}
	for i, part := range parts {
		at := slices.IndexFunc(p.Enum, func(known string) bool { return strings.EqualFold(known, strings.TrimSpace(part)) })
		if at < 0 {
			return "", &badParam{p.Name, fmt.Sprintf("%q: expected one of %s", part, strings.Join(p.Enum, ", "))}
		}
		parts[i] = p.Enum[at]
	}
	return strings.Join(parts, ","), nil
}

// badParam is the error for a wrong parameter: status 400.
type badParam struct{ name, problem string }

func (e *badParam) Error() string { return fmt.Sprintf("parameter %s %s", e.name, e.problem) }

// maxForm bounds the body of a POST in bytes.
const maxForm = 1 << 16

// readParams reads the parameters of a request. It refuses parameters that the route does not
// have: they are mostly misspelt.
func readParams(rt *Route, w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &badParam{"query", "is malformed: " + err.Error()}
	}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return nil, &badParam{"form", "is malformed: " + err.Error()}
		}
		given = r.Form
	}
	values := make(map[string]string)
	for _, p := range rt.Params {
		text := given.Get(p.Name)
		if n := len(given[p.Name]); n > 1 && !p.List {
			return nil, &badParam{p.Name, fmt.Sprintf("is given %d times", n)}
		}
		if p.List { // of several boxes of a form
			text = strings.Join(given[p.Name], ",")
		}
		if rt.inPath(p.Name) {
			text = r.PathValue(p.Name)
		}
		if values[p.Name], err = p.check(text); err != nil {
			return values, err
		}
	}
	for name := range given {
		i := slices.IndexFunc(rt.Params, func(p Param) bool { return p.Name == name && !rt.inPath(name) })
		if i < 0 {
			return values, &badParam{fmt.Sprintf("%.40q", name), "is not one of this path" + nameList(rt)}
		}
	}
	return values, nil
}

// nameList lists the parameters of a route for an error.
func nameList(rt *Route) string {
	var names []string
	for _, p := range rt.Params {
		if !rt.inPath(p.Name) {
			names = append(names, p.Name)
		}
	}
	if names == nil {
		return ", which has none"
	}
	return "; expected " + strings.Join(names, ", ")
}

// columnParam returns the parameter sort for a table.
func columnParam[T any](columns []Column[T], byDefault string) Param {
	p := Param{Name: "sort", Default: byDefault, Doc: "column, with - in front to begin with the highest"}
	for _, c := range columns {
		p.Enum = append(p.Enum, c.Name, "-"+c.Name)
	}
	return p
}

// Parameters that several routes have.
var (
	jobParam     = Param{Name: "job", Required: true, Doc: "id of a job"}
	taskParam    = Param{Name: "task", Doc: "id of a task of the job"}
	attemptParam = Param{Name: "attempt", Required: true, Doc: "id of an attempt"}
	nodeParam    = Param{Name: "node", Required: true, Doc: "name of a tasknode"}
	limitParam   = Param{Name: "limit", Default: strconv.Itoa(DefaultLimit), Max: MaxLimit, Doc: "rows of a page"}
	cursorParam  = Param{Name: "cursor", Doc: "next of the page before"}
	formatParam  = Param{Name: "format", Enum: []string{"json", "csv"}, Default: "json", Doc: "csv has the columns of the page's table"}
	liveParam    = Param{Name: "live", Max: 3600, Zero: true, Doc: "seconds until the page is loaded again; 0 to keep it as it is"}

	jobStates  = append(slices.Clone(apidoc.JobStates), apidoc.Suspended)
	taskStates = []string{"PENDING", "RUNNING", "SUSPENDED", "CHECKPOINTED", "SUCCEEDED", "FAILED", "KILLED"}

	nodeStates = []string{"RUNNING", "UNHEALTHY", "SILENT", "LOST", "DECOMMISSIONING", "DECOMMISSIONED"}

	jobListParams = []Param{
		{Name: "state", Enum: jobStates, List: true, Doc: "states of the jobs, joined by commas"},
		{Name: "user", Doc: "user of the jobs"},
		{Name: "pool", Doc: "pool of the jobs"},
		{Name: "q", Doc: "part of the id or name"},
		columnParam(JobColumns, "-submitTime"), limitParam, cursorParam,
	}
	nodeListParams = []Param{
		{Name: "state", Enum: nodeStates, Doc: "state of the tasknodes"},
		columnParam(NodeColumns, "name"), limitParam, cursorParam,
	}
	taskListParams = []Param{
		jobParam,
		{Name: "state", Enum: taskStates, Doc: "state of the tasks"},
		{Name: "type", Enum: []string{"MAP", "REDUCE"}, Doc: "type of the tasks"},
		{Name: "stage", Doc: "code of a stage, as in ids"},
		{Name: "node", Doc: "tasknode of the winner or, without one, of the last attempt"},
		{Name: "place", Enum: Places, Doc: "place of that attempt, relative to its input"},
		{Name: "minDuration", Max: math.MaxInt32, Doc: "least time with a slot, ms"},
		columnParam(TaskColumns, "id"), limitParam, cursorParam,
	}
)

// jobQuery returns the query of parameters as in jobListParams.
func jobQuery(p map[string]string) JobQuery {
	q := JobQuery{User: p["user"], Pool: p["pool"], Text: p["q"], Page: pageOf(p)}
	if p["state"] != "" {
		q.States = strings.Split(p["state"], ",")
	}
	return q
}

// taskQuery returns the query of parameters as in taskListParams.
func taskQuery(p map[string]string) TaskQuery {
	least, _ := strconv.ParseInt(p["minDuration"], 10, 64) // checked already; 0 for none
	return TaskQuery{State: p["state"], Type: p["type"], Stage: p["stage"], Node: p["node"], Place: p["place"], MinDuration: least, Page: pageOf(p)}
}

func pageOf(p map[string]string) Page {
	limit, _ := strconv.Atoi(p["limit"]) // checked already
	return Page{Sort: p["sort"], Limit: limit, Cursor: p["cursor"]}
}

// jobOf returns the id of the job of a task or an attempt, "" if id is neither.
func jobOf(id string) string {
	if a, err := cluster.ParseAttemptID(id); err == nil {
		return a.Task.Job.String()
	}
	if t, err := cluster.ParseTaskID(id); err == nil {
		return t.Job.String()
	}
	return ""
}

// taskOf returns the id of the task of an attempt, "" if id is not that of an attempt.
func taskOf(id string) string {
	a, err := cluster.ParseAttemptID(id)
	if err != nil {
		return ""
	}
	return a.Task.String()
}

// shellWord quotes a word for a shell if it needs that.
var shellWord = hostfile.Word

// contains reports whether a list has a text.
func contains(list []string, text string) bool { return slices.Contains(list, text) }
