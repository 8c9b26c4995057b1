package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/docs/report"
)

// columnsOf returns the numbers of tasks. Bytes and records follow from the numbers of the tasks.
func columnsOf(tasks []report.Task) *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	for _, t := range tasks {
		id := strings.Split(t.ID, "_")
		n, _ := strconv.Atoi(id[4])
		r := apidoc.TaskRow{Type: string(t.Type), Stage: id[3], Number: n, State: string(t.State), Attempts: len(t.Attempts), Place: docs.Places[n%3]}
		if len(t.Attempts) > 0 {
			last := t.Attempts[len(t.Attempts)-1]
			r.Node, r.StartTime, r.FinishTime = last.Tasknode, last.StartTime, last.FinishTime
			r.Duration, r.Bytes, r.Records = max(0, r.FinishTime-r.StartTime), int64(n*7919%60_000), int64(n)
		}
		c.Add(&r)
	}
	return c
}

// newLeaderless returns a cluster without a leader, whose masters know their jobs.
func newLeaderless(name string) *fakeSource {
	f := newFake(name)
	docs.Serve(f.table, docs.Explanation, func(context.Context, docs.TaskID) (docs.Answer[apidoc.Explanation], error) {
		return docs.Answer[apidoc.Explanation]{}, fmt.Errorf("no leader: %w", docs.ErrUnavailable)
	})
	return f
}
