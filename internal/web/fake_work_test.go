package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
)

// columnsOf returns the numbers of tasks. Bytes and records follow from the numbers of the tasks.
func columnsOf(tasks []report.Task) *apidoc.TaskColumns {
	c := new(apidoc.TaskColumns)
	for _, t := range tasks {
		id := strings.Split(t.ID, "_")
		n, _ := strconv.Atoi(id[4])
		r := apidoc.TaskRow{Type: string(t.Type), Stage: id[3], Number: n, State: string(t.State), Attempts: len(t.Attempts), Place: Places[n%3]}
		if len(t.Attempts) > 0 {
			last := t.Attempts[len(t.Attempts)-1]
			r.Node, r.StartTime, r.FinishTime = last.Tasknode, last.StartTime, last.FinishTime
			r.Duration, r.Bytes, r.Records = max(0, r.FinishTime-r.StartTime), int64(n*7919%60_000), int64(n)
		}
		c.Add(&r)
	}
	return c
}

func (f *fakeSource) TaskEvents(ctx context.Context, job, task string) (Answer[apidoc.Events], error) {
	return WorkOf{f}.TaskEvents(ctx, job, task)
}

func (f *fakeSource) TaskSummary(ctx context.Context, job string, byNode bool) (Answer[[]TaskGroup], error) {
	return WorkOf{f}.TaskSummary(ctx, job, byNode)
}

// leaderless is a cluster without a leader, whose masters know their jobs.
type leaderless struct{ *fakeSource }

func (*leaderless) Explain(context.Context, string, string) (Answer[apidoc.Explanation], error) {
	return Answer[apidoc.Explanation]{}, fmt.Errorf("no leader: %w", ErrUnavailable)
}
