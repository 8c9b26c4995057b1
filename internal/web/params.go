package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/docs"
)

// maxForm bounds the body of a POST in bytes.
const maxForm = 1 << 16

// readParams reads the parameters of a request. It refuses parameters that the route does not
// have: they are mostly misspelt.
func readParams(rt *Route, w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, docs.Bad("query", "is malformed: "+err.Error())
	}
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return nil, docs.Bad("form", "is malformed: "+err.Error())
		}
		given = r.Form
	}
	values := make(map[string]string)
	for _, p := range rt.Params {
		text := given.Get(p.Name)
		if n := len(given[p.Name]); n > 1 && !p.List {
			return nil, docs.Bad(p.Name, fmt.Sprintf("is given %d times", n))
		}
		if p.List { // of several boxes of a form
			text = strings.Join(given[p.Name], ",")
		}
		if rt.inPath(p.Name) {
			text = r.PathValue(p.Name)
		}
		if values[p.Name], err = p.Check(text); err != nil {
			return values, err
		}
	}
	for name := range given {
		i := slices.IndexFunc(rt.Params, func(p docs.Param) bool { return p.Name == name && !rt.inPath(name) })
		if i < 0 {
			return values, docs.Bad(fmt.Sprintf("%.40q", name), "is not one of this path"+nameList(rt))
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
func columnParam[T any](columns []docs.Column[T], byDefault string) docs.Param {
	p := docs.Param{Name: "sort", Default: byDefault, Doc: "column, with - in front to begin with the highest"}
	for _, c := range columns {
		p.Enum = append(p.Enum, c.Name, "-"+c.Name)
	}
	return p
}

// Parameters that several routes have.
var (
	jobParam     = docs.Param{Name: "job", Required: true, Doc: "id of a job"}
	taskParam    = docs.Param{Name: "task", Doc: "id of a task of the job"}
	attemptParam = docs.Param{Name: "attempt", Required: true, Doc: "id of an attempt"}
	nodeParam    = docs.Param{Name: "node", Required: true, Doc: "name of a tasknode"}
	poolParam    = docs.Param{Name: "pool", Required: true, Doc: "name of a pool"}
	limitParam   = docs.Param{Name: "limit", Default: strconv.Itoa(docs.DefaultLimit), Max: docs.MaxLimit, Doc: "rows of a page"}
	cursorParam  = docs.Param{Name: "cursor", Doc: "next of the page before"}
	formatParam  = docs.Param{Name: "format", Enum: []string{"json", "csv"}, Default: "json", Doc: "csv has the columns of the page's table"}
	liveParam    = docs.Param{Name: "live", Max: 3600, Zero: true, Doc: "seconds until the page is loaded again; 0 to keep it as it is"}

	nodeListParams = []docs.Param{
		{Name: "state", Enum: docs.NodeStates, Doc: "state of the tasknodes"},
		columnParam(docs.NodeColumns, "name"), limitParam, cursorParam,
	}
)

// pageOf returns the part of a list that checked parameters ask for.
func pageOf(p map[string]string) docs.Page {
	limit, _ := strconv.Atoi(p["limit"]) // checked already
	return docs.Page{Sort: p["sort"], Limit: limit, Cursor: p["cursor"]}
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
