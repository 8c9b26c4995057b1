package web

import (
	"cmp"
	"fmt"
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
// 100,000 tasks takes longer than to draw it. So one is made at a time.
type histories struct {
	making sync.Mutex
	kept   latest[keptHistory] // by job
}

type keptHistory struct {
	events  apidoc.Events
	history *analysis.History
}

// maxHistories bounds the histories that are kept. A large one has 30 MB.
const maxHistories = 4

// of returns the history of a job. It is made if the source has other events than the last time.
func (k *histories) of(job string, events apidoc.Events, types map[string]string, now int64) *analysis.History {
	k.making.Lock()
	defer k.making.Unlock()
	if kept, known := k.kept.get(job); known && sameEvents(kept.events, events) {
		return kept.history.At(now)
	}
	h := analysis.NewHistory(events, types, now)
	k.kept.set(job, keptHistory{events, h})
	return h
}

// sameEvents reports whether two answers are one list. Sources never change a list.
func sameEvents(a, b apidoc.Events) bool {
	return len(a.Events) == len(b.Events) && a.Since == b.Since && (len(a.Events) == 0 || &a.Events[0] == &b.Events[0])
}

// columns returns the numbers of all tasks of the job, empty ones after an error.
func (c *call) columns() *apidoc.TaskColumns {
	return cmp.Or(read(c, docs.Columns, docs.JobID{Job: c.params["job"]}), new(apidoc.TaskColumns))
}

// history returns the history of the job, an empty one after an error.
func (c *call) history() *analysis.History {
	columns := c.columns()
	a, err := docs.Events.Read(c.ctx, c.cfg.Source, docs.TaskID{Job: c.params["job"]})
	if events := use(c, a, err); c.err != nil {
		return analysis.NewHistory(events, nil, 0)
	}
	types := make(map[string]string)
	for i, code := range columns.Stages {
		types[code] = columns.Types[i]
	}
	return c.histories.of(c.params["job"], a.Value, types, a.At.UnixMilli())
}

// window returns the window that the parameters choose, as in windowParams.
func (c *call) window() analysis.Window {
	number := func(name string) int64 {
		n, _ := strconv.ParseInt(c.params[name], 10, 64) // checked already
		return n
	}
	w := analysis.Window{From: number("from"), To: number("to"), ByTask: c.params["by"] == "task", Px: int(number("px"))}
	if w.To != 0 && w.To <= w.From {
		c.reject(docs.Bad("to", "is not after the begin of the window"))
	}
	if rows := c.params["lanes"]; rows != "" {
		first, last, _ := strings.Cut(rows, "-")
		a, errA := strconv.ParseUint(first, 10, 31)
		b, errB := strconv.ParseUint(last, 10, 31)
		if errA != nil || errB != nil || b < a {
			c.reject(docs.Bad("lanes", fmt.Sprintf("%q: expected two numbers, as 0-63", rows)))
			return w
		}
		w.First, w.Last = int(a), int(b)
	}
	return w
}
