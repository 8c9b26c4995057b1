package web

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
)

// problem is the body of an error, as RFC 9457 defines it.
type problem struct {
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`                // for programs: bad_parameter, bad_method, unknown, refused, busy, unavailable or internal
	Parameter string `json:"parameter,omitempty"` // that is wrong
	Hint      string `json:"hint,omitempty"`      // command that helps
}

// codes has a code for each status of statusOf.
var codes = map[int]string{
	http.StatusBadRequest: "bad_parameter", http.StatusMethodNotAllowed: "bad_method", http.StatusUnauthorized: "refused", http.StatusForbidden: "refused", http.StatusNotFound: "unknown",
	http.StatusConflict: "refused", http.StatusTooManyRequests: "busy", http.StatusServiceUnavailable: "unavailable", http.StatusGatewayTimeout: "unavailable",
}

// problem describes an error.
func (c *call) problem(status int, err error) problem {
	code := codes[status]
	if code == "" {
		code = "internal"
	}
	p := problem{Title: http.StatusText(status), Status: status, Detail: err.Error(), Code: code, Hint: c.hint(status)}
	if bad, ok := err.(*docs.BadParam); ok {
		p.Parameter = bad.Name
	}
	return p
}

// hint returns a command that helps after an error.
func (c *call) hint(status int) string {
	switch {
	case status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return "hammr master status"
	case status != http.StatusNotFound:
		return ""
	case c.params["job"] != "":
		return "hammr job list --all"
	case c.params["attempt"] != "":
		if job := docs.JobOf(c.params["attempt"]); job != "" {
			return "hammr task list " + job
		}
		return "hammr job list --all"
	case c.params["node"] != "":
		return "hammr node list --all"
	case c.params["master"] != "":
		return "hammr master status"
	}
	return ""
}

// sendProblem answers with an error.
func sendProblem(w http.ResponseWriter, p problem) {
	text, _ := json.Marshal(p) // it has only texts and numbers
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(text, '\n')) // the client may have disconnected
}

// json answers with a document.
func (c *call) json(doc any) error {
	var text []byte
	err := c.err
	switch v := reflect.ValueOf(doc); {
	case err != nil:
	case v.Kind() == reflect.Map && v.Len() == 0:
		text = []byte("{}\n")
	case v.Kind() == reflect.Slice && v.Len() == 0:
		text = []byte("[]\n")
	default:
		if r, ok := doc.(report.Report); ok {
			text, err = r.Marshal() // the encoder of `hammr job status --json`
			break
		}
		text, err = json.Marshal(doc)
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, "application/json; charset=utf-8", text)
}

// sendCSV answers with a table.
func (c *call) sendCSV(table [][]string, next string) error {
	var text strings.Builder
	_ = csv.NewWriter(&text).WriteAll(table) // a strings.Builder takes everything
	if next != "" {
		c.w.Header().Set("Hammr-Next", next)
	}
	return c.send(http.StatusOK, "text/csv; charset=utf-8", []byte(text.String()))
}

// read returns the answer of a document, and notes how old it is. After an error, nothing more is read.
func read[Q, A any](c *call, d docs.Document[Q, A], q Q) (value A) {
	if c.err != nil {
		return value
	}
	a, err := d.Read(c.ctx, c.cfg.Source, q)
	return use(c, a, err)
}

// optional is read for a document without which a page is shown too: it is the zero value after one of the accepted
// errors, or after any if none is named.
func optional[Q, A any](c *call, d docs.Document[Q, A], q Q, accepted ...error) (value A) {
	if c.err != nil {
		return value
	}
	a, err := d.Read(c.ctx, c.cfg.Source, q)
	if err != nil && (len(accepted) == 0 || slices.ContainsFunc(accepted, func(known error) bool { return errors.Is(err, known) })) {
		return value
	}
	return use(c, a, err)
}

// wanted returns the answer of a document to the parameters of the request.
func wanted[Q, A any](c *call, d docs.Document[Q, A]) (value A) {
	q, err := d.Parse(c.params)
	if err != nil {
		c.reject(err)
		return value
	}
	return read(c, d, q.(Q))
}

// answer answers with a document to the parameters of the request.
func (c *call) answer(e *docs.Entry) error {
	q, err := e.Parse(c.params)
	if err != nil {
		return err
	}
	a, err := c.cfg.Source.Read(c.ctx, e, q)
	value := use(c, a, err)
	if err != nil {
		return err
	}
	if c.params["format"] == "csv" {
		return c.sendCSV(e.Rows(value))
	}
	return c.json(value)
}
