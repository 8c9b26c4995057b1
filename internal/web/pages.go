package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// ClusterSummary has figures of the whole cluster.
type ClusterSummary struct {
	Cluster     string         `json:"cluster"`
	Leader      string         `json:"leader"` // "" if there is none
	Jobs        map[string]int `json:"jobs"`   // by displayed state
	Nodes       map[string]int `json:"nodes"`  // by state
	MapSlots    SlotUse        `json:"mapSlots"`
	ReduceSlots SlotUse        `json:"reduceSlots"`
}

// SlotUse is how many slots of running tasknodes are in use.
type SlotUse struct {
	Total int32 `json:"total"`
	Used  int32 `json:"used"`
}

// summary adds up figures of the cluster.
func (c *call) summary() ClusterSummary {
	masters := c.masters()
	doc := ClusterSummary{Cluster: masters.Cluster, Leader: masters.Leader, Nodes: make(map[string]int)}
	doc.Jobs = read(c, docs.Jobs, docs.JobQuery{Page: docs.Page{Limit: 1}}).States
	for _, node := range read(c, docs.Nodes, docs.No{}) {
		doc.Nodes[node.State]++
		if node.State == "RUNNING" {
			doc.MapSlots.Total += node.MapSlots
			doc.ReduceSlots.Total += node.ReduceSlots
		}
		doc.MapSlots.Used += node.MapsRunning
		doc.ReduceSlots.Used += node.ReducesRunning
	}
	return doc
}

func showOverview(c *call) error {
	data := struct {
		ClusterSummary
		Active, Over []apidoc.Job
		Pools        []apidoc.Queue
		Use          *Chart
		Ranges       []Tab
	}{}
	data.ClusterSummary = c.summary()
	data.Active = read(c, docs.Jobs, docs.JobQuery{States: []string{"PREP", "RUNNING"}, Page: docs.Page{Limit: 10}}).Jobs
	data.Over = read(c, docs.Jobs, docs.JobQuery{States: []string{"SUCCEEDED", "FAILED", "KILLED"}, Page: docs.Page{Sort: "-finishTime", Limit: 10}}).Jobs
	data.Pools = read(c, docs.Pools, docs.No{})
	h := c.samples("")
	data.Use, data.Ranges = h.useChart(), h.Ranges
	return c.render(http.StatusOK, "overview", "Overview", data, Command{"jobs", "hammr job list"}, Command{"tasknodes", "hammr node list"}, Command{"masters", "hammr master status"})
}

// tableData is a page of a table.
type tableData[T any] struct {
	Rows     []T
	Total    int
	States   map[string]int
	Headings []Heading
	Next     string // URL of the next page, "" on the last
	First    string // URL of the first page, "" on the first
	CSV      string // URL of the table for a spreadsheet
}

// newTable returns the data of a table whose page a source has returned.
func newTable[T any](c *call, rows []T, total int, states map[string]int, next string, columns []docs.Column[T]) tableData[T] {
	v := &view{call: c}
	t := tableData[T]{Rows: rows, Total: total, States: states, Headings: headings(c, columns)}
	if next != "" {
		t.Next = v.With("cursor", next)
	}
	if c.params["cursor"] != "" {
		t.First = v.With()
	}
	q := c.r.URL.Query()
	for _, name := range []string{"live", "cursor", "by"} { // of the page only
		q.Del(name)
	}
	q.Set("format", "csv")
	q.Set("limit", fmt.Sprint(docs.MaxLimit))
	t.CSV = apiRoot + c.r.URL.EscapedPath() + "?" + q.Encode()
	return t
}

func showJobs(c *call) error {
	page := wanted(c, docs.Jobs)
	command := "hammr job list --all"
	for flag, value := range map[string]string{"state": strings.ToLower(c.params["state"]), "user": c.params["user"], "queue": c.params["pool"]} {
		if value != "" {
			command += " --" + flag + " " + shellWord(value)
		}
	}
	table := newTable(c, page.Jobs, page.Total, page.States, page.Next, docs.JobColumns)
	return c.render(http.StatusOK, "jobs", "Jobs", struct {
		tableData[apidoc.Job]
		AllStates []string
	}{table, docs.ShownJobStates}, Command{"these jobs", command})
}

// tabs are the pages of a job: path below the job's, and text.
var tabs = [][2]string{
	{"", "Job"}, {"/tasks", "Tasks"}, {"/timeline", "Timeline"}, {"/skew", "Skew"}, {"/preemption", "Preemption"}, {"/locality", "Locality"},
	{"/counters", "Counters"}, {"/conf", "Configuration"}, {"#failures", "Failures"},
}

// Tab is a link to a page of a job.
type Tab struct {
	URL, Text string
	Here      bool
}

// jobHead is what every page of a job shows.
type jobHead struct {
	ID   string
	Tabs []Tab
}

// Page returns the path of a page of the job.
func (h jobHead) Page(page string) string { return "/jobs/" + url.PathEscape(h.ID) + "/" + page }

func (c *call) jobHead() jobHead {
	h := jobHead{ID: c.params["job"]}
	root := "/jobs/" + url.PathEscape(h.ID)
	for _, tab := range tabs {
		h.Tabs = append(h.Tabs, Tab{root + tab[0], tab[1], c.r.URL.EscapedPath() == root+tab[0]})
	}
	return h
}

// goToAttempt leads to the attempt on the page of its task.
func goToAttempt(c *call) error {
	a, err := cluster.ParseAttemptID(c.params["attempt"])
	if err != nil {
		return fmt.Errorf("%.200q is not the id of an attempt: %w", c.params["attempt"], docs.ErrUnknown)
	}
	return c.redirect(attemptURL(a))
}
