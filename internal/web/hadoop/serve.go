package hadoop

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/access"
)

// Config configures the answers.
type Config struct {
	Source docs.Source
	// User is the name of the caller in the audit log.
	User string
	// Self is the id of the master that answers, "" for a server that is no master.
	Self string
	// Scheduler is the shape of /ws/v1/cluster/scheduler: fair, capacity or fifo; "" chooses by the
	// policy.
	Scheduler string
	// Diagnostics returns what the caller may read of the cause of a failure; default all of it.
	Diagnostics func(cause string) string
	// Now returns the time.
	Now func() time.Time
}

// read returns the answer of a document, the zero value after an error, which is then the answer to the request. One
// that is not fresh counts as others: Hadoop's API has no field for that.
func read[Q, A any](c *Call, d docs.Document[Q, A], q Q) A {
	a, err := d.Read(c.ctx, c.Source, q)
	c.fail(err)
	return a.Value
}

// fail makes an error the answer to the request, unless there is one already. It does nothing for nil.
func (c *Call) fail(err error) { c.err = cmp.Or(c.err, err) }

// jobs yields the jobs that masters list and that match, the latest first, until there is an error. It pages
// through the list, so that the part of it that a client reads is read.
func (c *Call) jobs(q docs.JobQuery) iter.Seq[apidoc.Job] {
	return func(yield func(apidoc.Job) bool) {
		q.Limit = docs.MaxLimit
		for c.err == nil {
			page := read(c, docs.Jobs, q)
			for _, j := range page.Jobs {
				if !yield(j) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
}

// states counts the jobs that masters list, by state of docs.ShownJobStates.
func (c *Call) states() map[string]int {
	return read(c, docs.Jobs, docs.JobQuery{Page: docs.Page{Limit: 1}}).States
}

// change does one of kill, move and priority to the job of the request.
func (c *Call) change(do, value string) error {
	_, err := c.Source.Change(c.ctx, docs.Change{Do: "job." + do, ID: c.Object.ID, Value: value, User: c.User})
	return err
}

// diagnostics returns what the caller may read of the cause of a failure.
func (cfg *Config) diagnostics(cause string) string {
	if cfg.Diagnostics == nil {
		return cause
	}
	return cfg.Diagnostics(cause)
}

// Schedulers are the values of Config.Scheduler.
var Schedulers = []string{"fair", "capacity", "fifo"}

// Endpoint is a path that is served.
type Endpoint struct {
	Method string
	Path   string      // pattern of http.ServeMux, without the method
	Verb   access.Verb // what the caller must be allowed to do
	Object string      // to what
	Call   string      // of a change: its name in the audit log
	Doc    string      // one sentence

	key   string                  // of a change: the name of the value in the body
	serve func(c *Call) *document // nil, or of no use, after Call.fail
}

// Call is one request to an endpoint.
type Call struct {
	// Object is what the caller must be allowed to see or to change.
	Object access.Object
	// Value is what a change gives the object.
	Value string

	*Config
	ctx      context.Context
	endpoint *Endpoint
	w        http.ResponseWriter
	r        *http.Request
	now      int64 // ms since the epoch
	err      error // the answer, instead of a document
}

// Open reads a request to the endpoint. Parameters that an endpoint does not have are ignored, as
// Hadoop does it, because clients add some of their own.
func (e *Endpoint) Open(ctx context.Context, cfg *Config, w http.ResponseWriter, r *http.Request) (c *Call, err error) {
	c = &Call{Config: cfg, ctx: ctx, endpoint: e, w: w, r: r, now: cfg.Now().UnixMilli(), Object: access.Object{Kind: e.Object}}
	switch e.Object {
	case "job":
		if c.Object.ID = r.PathValue("job"); c.Object.ID == "" && r.PathValue("app") != "" {
			c.Object.ID, err = jobOfApp(r.PathValue("app"))
		}
	case "node":
		c.Object.ID = r.PathValue("node")
	}
	if err == nil && e.key != "" {
		if c.Value, err = valueIn(r, e.key); len(c.Value) > maxValue {
			err = badRequest("%s: %d bytes; at most %d are accepted", e.key, len(c.Value), maxValue)
		}
	}
	return c, err
}

// Serve answers the request. The caller of Serve has authorized the user.
func (c *Call) Serve() error {
	d := c.endpoint.serve(c)
	if c.err != nil {
		return c.err
	}
	return d.send(c.w, c.r)
}

// maxBody and maxValue bound the body of a change and the value in it, in bytes.
const (
	maxBody  = 1 << 16
	maxValue = 512
)

// valueIn returns the value of a name in the body of a request.
func valueIn(r *http.Request, key string) (string, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return "", badRequest("body: %v", err)
	}
	if strings.Contains(r.Header.Get("Content-Type"), "xml") {
		return "", badRequest("body: XML; send JSON with Content-Type: application/json")
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return "", badRequest("body: %v", err)
	}
	switch v := fields[key].(type) {
	case string:
		return v, nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", badRequest(`body: expected {"%s": VALUE}`, key)
}

// send writes the document as JSON, whatever the client accepts.
func (d *document) send(w http.ResponseWriter, r *http.Request) error {
	if d.to != "" {
		http.Redirect(w, r, d.to, http.StatusFound)
		return nil
	}
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(max(d.status, http.StatusOK))
	if r.Method == http.MethodHead {
		return nil
	}
	return d.writeJSON(w)
}

// param returns a parameter of the query, "" if it is absent.
func (c *Call) param(name string) string { return c.r.URL.Query().Get(name) }

// listParam returns the values of a parameter, which are joined by commas or given several times.
func (c *Call) listParam(name string) (values []string) {
	for _, v := range c.r.URL.Query()[name] {
		for _, part := range strings.Split(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				values = append(values, part)
			}
		}
	}
	return values
}

// choices returns the values of a parameter in capitals, each of which must be one of some.
func (c *Call) choices(name, what string, of []string) []string {
	values := c.listParam(name)
	for i, v := range values {
		if values[i] = strings.ToUpper(v); !slices.Contains(of, values[i]) {
			c.fail(badRequest("java.lang.Exception: Invalid %s %s specified. It should be one of [%s]", what, v, strings.Join(of, ", ")))
		}
	}
	return values
}

// limit returns the parameter limit; without it, there is none.
func (c *Call) limit() int {
	text := c.param("limit")
	if text == "" {
		return 1 << 30
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		c.fail(badRequest("java.lang.Exception: limit value must be a number!"))
	case n <= 0:
		c.fail(badRequest("java.lang.Exception: limit value must be greater then 0"))
	}
	return n
}

// period returns a range of times, both ends included, of the parameters NAMEBegin and NAMEEnd.
func (c *Call) period(name string) (begin, end int64) {
	begin, end = 0, 1<<62
	for _, p := range []struct {
		name string
		to   *int64
	}{{name + "Begin", &begin}, {name + "End", &end}} {
		text := c.param(p.name)
		if text == "" {
			continue
		}
		var err error
		if *p.to, err = strconv.ParseInt(text, 10, 64); err != nil {
			c.fail(badRequest("java.lang.Exception: Invalid number format: %s", text))
		}
		if *p.to < 0 {
			c.fail(badRequest("java.lang.Exception: %s must be greater than 0", p.name))
		}
	}
	if begin > end {
		c.fail(badRequest("java.lang.Exception: %sEnd must be greater than %sBegin", name, name))
	}
	return begin, end
}

// times returns whether a job started and finished in the periods that the parameters select.
func (c *Call) times() (in func(start, finish int64) bool) {
	startBegin, startEnd := c.period("startedTime")
	finishBegin, finishEnd := c.period("finishedTime")
	return func(start, finish int64) bool {
		return startBegin <= start && start <= startEnd && finishBegin <= finish && finish <= finishEnd
	}
}

// url returns the full address of a path of this server.
func (c *Call) url(path string) string {
	scheme := "http"
	if c.r.TLS != nil {
		scheme = "https"
	}
	return fmt.Sprintf("%s://%s%s", scheme, c.r.Host, path)
}
