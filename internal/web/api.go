package web

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/clean"
	"github.com/hammr/hammr/internal/report"
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
	if bad, ok := err.(*badParam); ok {
		p.Parameter = bad.name
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
		if job := jobOf(c.params["attempt"]); job != "" {
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
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, "application/json; charset=utf-8", append(text, '\n'))
}

// answer answers with the value of a source.
func answer[T any](c *call, a Answer[T], err error) error {
	doc, err := use(c, a, err)
	if err != nil {
		return err
	}
	return c.json(doc)
}

// sendCSV answers with a table.
func sendCSV[T any](c *call, rows []T, columns []Column[T], next string) error {
	var text strings.Builder
	w := csv.NewWriter(&text)
	var cells []string
	for _, column := range columns {
		cells = append(cells, column.Name)
	}
	_ = w.Write(cells) // a strings.Builder takes everything
	for _, row := range rows {
		cells = cells[:0]
		for _, column := range columns {
			cell := column.cell(row)
			if column.Text != nil {
				cell = clean.Cell(cell)
			}
			cells = append(cells, cell)
		}
		_ = w.Write(cells)
	}
	w.Flush()
	if next != "" {
		c.w.Header().Set("Hammr-Next", next)
	}
	return c.send(http.StatusOK, "text/csv; charset=utf-8", []byte(text.String()))
}

func answerCluster(c *call) error {
	doc, err := c.summary()
	if err != nil {
		return err
	}
	return c.json(doc)
}

func answerMasters(c *call) error {
	a, err := c.cfg.Source.Masters(c.ctx)
	return answer(c, a, err)
}

func answerJobs(c *call) error {
	a, err := c.cfg.Source.Jobs(c.ctx, jobQuery(c.params))
	if page, err := use(c, a, err); err == nil && c.params["format"] == "csv" {
		return sendCSV(c, page.Jobs, JobColumns, page.Next)
	}
	return answer(c, a, err)
}

func answerJob(c *call) error {
	a, err := c.cfg.Source.Job(c.ctx, c.params["job"])
	r, err := use(c, a, err)
	if err != nil {
		return err
	}
	text, err := r.Marshal() // the encoder of `hammr job status --json`
	if err != nil {
		return err
	}
	return c.send(http.StatusOK, "application/json; charset=utf-8", text)
}

func answerTasks(c *call) error {
	a, err := c.cfg.Source.Tasks(c.ctx, c.params["job"], taskQuery(c.params))
	if page, err := use(c, a, err); err == nil && c.params["format"] == "csv" {
		return sendCSV(c, page.Tasks, TaskColumns, page.Next)
	}
	return answer(c, a, err)
}

func answerExplain(c *call) error {
	a, err := c.cfg.Source.Explain(c.ctx, c.params["job"], c.params["task"])
	return answer(c, a, err)
}

func answerCounters(c *call) error {
	a, err := c.cfg.Source.Job(c.ctx, c.params["job"])
	r, err := use(c, a, err)
	if err != nil {
		return err
	}
	return c.json(r.Counters)
}

func answerFailures(c *call) error {
	a, err := c.cfg.Source.Job(c.ctx, c.params["job"])
	r, err := use(c, a, err)
	if err != nil {
		return err
	}
	return c.json(append([]report.Failure{}, r.Failures...))
}

func answerConfiguration(c *call) error {
	a, err := c.cfg.Source.Configuration(c.ctx, c.params["job"])
	properties, err := use(c, a, err)
	if err != nil {
		return err
	}
	if len(properties) == 0 {
		return c.json(map[string]string{}) // an object, not null
	}
	return c.json(clean.Properties(properties))
}

func answerNodes(c *call) error {
	a, err := c.cfg.Source.Nodes(c.ctx)
	return answer(c, a, err)
}

func answerNode(c *call) error {
	a, err := c.cfg.Source.Node(c.ctx, c.params["node"])
	return answer(c, a, err)
}

func answerPools(c *call) error {
	a, err := c.cfg.Source.Pools(c.ctx)
	return answer(c, a, err)
}

func answerPolicy(c *call) error {
	a, err := c.cfg.Source.Policy(c.ctx)
	return answer(c, a, err)
}

func answerSearch(c *call) error {
	hits, err := c.search(c.params["q"])
	if err != nil {
		return err
	}
	return c.json(append([]Hit{}, hits...))
}
