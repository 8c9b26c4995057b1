package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
)

// Quantiles describes a number over the finished tasks of a group. A quantile is the value of a
// task: the smallest that is at least as large as that part of all values.
type Quantiles struct {
	Min int64 `json:"min"`
	P5  int64 `json:"p5"`
	P25 int64 `json:"p25"`
	P50 int64 `json:"p50"`
	P75 int64 `json:"p75"`
	P95 int64 `json:"p95"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// quantilesOf sorts values, of which there is at least one.
func quantilesOf(values []int64) Quantiles {
	slices.Sort(values)
	at := func(percent int) int64 { return values[max((len(values)*percent+99)/100, 1)-1] }
	return Quantiles{values[0], at(5), at(25), at(50), at(75), at(95), at(99), values[len(values)-1]}
}

// list returns the quantiles in order.
func (q Quantiles) list() [8]int64 {
	return [8]int64{q.Min, q.P5, q.P25, q.P50, q.P75, q.P95, q.P99, q.Max}
}

// TaskGroup is a group of finished tasks of a stage: all of them, or those of one tasknode.
type TaskGroup struct {
	Stage    string    `json:"stage"`          // code
	Node     string    `json:"node,omitempty"` // tasknode of the winners; "" for all
	Tasks    int       `json:"tasks"`          // finished; at least 1
	Duration Quantiles `json:"duration"`       // time for which the winner had its slot, ms
	Bytes    Quantiles `json:"bytes"`
	Records  Quantiles `json:"records"`
	In       Quantiles `json:"in"`
	Spilled  Quantiles `json:"spilled"`
}

// SummarizeTasks returns a group of the finished tasks for each stage or, if byNode is set, for each
// stage and tasknode, in the order of stages and names.
func SummarizeTasks(c *apidoc.TaskColumns, byNode bool) []TaskGroup {
	nodes := 1
	if byNode {
		nodes = len(c.Nodes)
	}
	members := make([][]int32, len(c.Stages)*nodes) // by stage and node
	for i, end := range c.End {
		if end == 0 {
			continue
		}
		group := int(c.Stage[i]) * nodes
		if byNode {
			group += int(c.Node[i])
		}
		members[group] = append(members[group], int32(i))
	}
	groups, values := []TaskGroup{}, make([]int64, c.Len())
	for group, tasks := range members {
		if len(tasks) == 0 {
			continue
		}
		over := func(column []int64) Quantiles {
			for i, task := range tasks {
				values[i] = column[task]
			}
			return quantilesOf(values[:len(tasks)])
		}
		g := TaskGroup{
			Stage: c.Stages[group/nodes], Tasks: len(tasks),
			Duration: over(c.Duration), Bytes: over(c.Bytes), Records: over(c.Records), In: over(c.In), Spilled: over(c.Spilled),
		}
		if byNode {
			g.Node = c.Nodes[group%nodes]
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b TaskGroup) int {
		if a.Stage != b.Stage {
			return slices.Index(c.Stages, a.Stage) - slices.Index(c.Stages, b.Stage)
		}
		return strings.Compare(a.Node, b.Node)
	})
	return groups
}

// measure is a number of tasks that has quantiles.
type measure struct {
	column string // of TaskColumns
	what   string
	of     func(TaskGroup) Quantiles
	text   func(int64) string
}

var measures = []measure{
	{"duration", "duration", func(g TaskGroup) Quantiles { return g.Duration }, durationText},
	{"bytes", "output", func(g TaskGroup) Quantiles { return g.Bytes }, bytesText},
	{"records", "records", func(g TaskGroup) Quantiles { return g.Records }, func(n int64) string { return countText(n) }},
	{"in", "records in", func(g TaskGroup) Quantiles { return g.In }, func(n int64) string { return countText(n) }},
	{"spilled", "spilled records", func(g TaskGroup) Quantiles { return g.Spilled }, func(n int64) string { return countText(n) }},
}

// quantileRow is a line of the table of quantiles: a measure of a group.
type quantileRow struct {
	Group TaskGroup
	What  string
	Cells []quantileCell
}

// quantileCell is a quantile with the URL of the tasks that are at least as large.
type quantileCell struct{ Text, URL string }

// maxQuantileRows bounds the table of quantiles.
const maxQuantileRows = 60

// quantileRows returns the table of quantiles. It leaves out measures that are 0 for all tasks, and
// rows that are too many.
func quantileRows(v *view, groups []TaskGroup) (rows []quantileRow, leftOut int) {
	for _, g := range groups {
		for _, m := range measures {
			q := m.of(g)
			if q.Max == 0 {
				continue
			}
			if len(rows) == maxQuantileRows {
				leftOut++
				continue
			}
			row := quantileRow{Group: g, What: m.what}
			for _, n := range q.list() {
				cell := quantileCell{Text: m.text(n), URL: v.With("stage", g.Stage, "node", g.Node, "sort", "-"+m.column)}
				if m.column == "duration" && n > 0 {
					cell.URL = v.With("stage", g.Stage, "node", g.Node, "sort", "duration", "minDuration", n)
				}
				row.Cells = append(row.Cells, cell)
			}
			rows = append(rows, row)
		}
	}
	return rows, leftOut
}

// summaryLine is a line of the CSV of a summary.
type summaryLine struct {
	group TaskGroup
	what  string
	q     [8]int64
}

func answerSummary(c *call) error {
	a, err := c.cfg.Source.TaskSummary(c.ctx, c.params["job"], c.params["by"] == "node")
	groups, err := use(c, a, err)
	if err != nil || c.params["format"] != "csv" {
		return answer(c, a, err)
	}
	columns := []Column[summaryLine]{
		{Name: "stage", Text: func(l summaryLine) string { return l.group.Stage }}, {Name: "node", Text: func(l summaryLine) string { return l.group.Node }},
		{Name: "tasks", Text: func(l summaryLine) string { return strconv.Itoa(l.group.Tasks) }}, {Name: "what", Text: func(l summaryLine) string { return l.what }},
	}
	for i, name := range []string{"min", "p5", "p25", "p50", "p75", "p95", "p99", "max"} {
		columns = append(columns, Column[summaryLine]{Name: name, Text: func(l summaryLine) string { return fmt.Sprint(l.q[i]) }})
	}
	var lines []summaryLine
	for _, g := range groups {
		for _, m := range measures {
			lines = append(lines, summaryLine{g, m.column, m.of(g).list()})
		}
	}
	return sendCSV(c, lines, columns, "")
}
