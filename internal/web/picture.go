package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/web/analysis"
)

// Parameters of pictures.
var (
	windowParams = []docs.Param{
		jobParam,
		{Name: "from", Max: 1 << 52, Doc: "begin of the window, ms since the epoch; default: that of the job"},
		{Name: "to", Max: 1 << 52, Doc: "end of the window, ms since the epoch; default: that of the job"},
		{Name: "lanes", Doc: "numbers of the first and the last row, as 0-63; default: all"},
		{Name: "by", Enum: []string{"node", "task"}, Default: "node", Doc: "what a row is: a slot of a tasknode, or a task"},
	}
	measureParam = docs.Param{Name: "by", Enum: analysis.Measures, Default: "bytes", Doc: "number whose skew is shown: output bytes or records, input records (in), or time"}
)

// histories keeps the histories of the jobs that were asked for last: to make one of a job with
// 100,000 tasks takes longer than to draw it. The zero value is ready to use.
type histories struct {
	mu   sync.Mutex
	kept []keptHistory // the latest first
}

type keptHistory struct {
	job     string
	events  apidoc.Events
	history *analysis.History
}

// maxHistories bounds the histories that are kept. A large one has 30 MB.
const maxHistories = 4

// of returns the history of a job. It is made if the source has other events than the last time.
func (k *histories) of(job string, events apidoc.Events, types map[string]string, now int64) *analysis.History {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.IndexFunc(k.kept, func(h keptHistory) bool { return h.job == job })
	if at >= 0 && sameEvents(k.kept[at].events, events) {
		return k.kept[at].history.At(now)
	}
	if at >= 0 {
		k.kept = slices.Delete(k.kept, at, at+1)
	}
	h := analysis.NewHistory(events, types, now)
	k.kept = slices.Insert(k.kept, 0, keptHistory{job, events, h})
	k.kept = k.kept[:min(len(k.kept), maxHistories)]
	return h
}

// sameEvents reports whether two answers are one list. Sources never change a list.
func sameEvents(a, b apidoc.Events) bool {
	return len(a.Events) == len(b.Events) && a.Since == b.Since && (len(a.Events) == 0 || &a.Events[0] == &b.Events[0])
}

// columns returns the numbers of all tasks of the job.
func (c *call) columns() (*apidoc.TaskColumns, error) {
	return read(c, docs.Columns, docs.JobID{Job: c.params["job"]})
}

// history returns the history of the job.
func (c *call) history() (*analysis.History, error) {
	columns, err := c.columns()
	if err != nil {
		return nil, err
	}
	a, err := docs.Events.Read(c.ctx, c.cfg.Source, docs.TaskID{Job: c.params["job"]})
	events, err := use(c, a, err)
	if err != nil {
		return nil, err
	}
	types := make(map[string]string)
	for i, code := range columns.Stages {
		types[code] = columns.Types[i]
	}
	return c.histories.of(c.params["job"], events, types, a.At.UnixMilli()), nil
}

// windowOf returns the window of parameters as in windowParams.
func windowOf(p map[string]string) (w analysis.Window, err error) {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(p[name], 10, 64) // checked already
		return n
	}
	w = analysis.Window{From: number("from"), To: number("to"), ByTask: p["by"] == "task", Px: int(number("px"))}
	if w.To != 0 && w.To <= w.From {
		return w, docs.Bad("to", "is not after the begin of the window")
	}
	if rows := p["lanes"]; rows != "" {
		first, last, _ := strings.Cut(rows, "-")
		a, errA := strconv.ParseUint(first, 10, 31)
		b, errB := strconv.ParseUint(last, 10, 31)
		if errA != nil || errB != nil || b < a {
			return w, docs.Bad("lanes", fmt.Sprintf("%q: expected two numbers, as 0-63", rows))
		}
		w.First, w.Last = int(a), int(b)
	}
	return w, nil
}

func (c *call) timeline() (t analysis.Timeline, err error) {
	w, err := windowOf(c.params)
	if err != nil {
		return t, err
	}
	h, err := c.history()
	if err != nil {
		return t, err
	}
	return h.Timeline(w), nil
}

func (c *call) skew() (s analysis.Skew, err error) {
	columns, err := c.columns()
	if err != nil {
		return s, err
	}
	return analysis.SkewOf(columns, c.params["job"], c.params["by"]), nil
}

func (c *call) preemptions() (p analysis.Preemptions, err error) {
	h, err := c.history()
	if err != nil {
		return p, err
	}
	return h.Preemptions(), nil
}

func (c *call) locality() (l analysis.Locality, err error) {
	columns, err := c.columns()
	if err != nil {
		return l, err
	}
	return analysis.LocalityOf(columns), nil
}
