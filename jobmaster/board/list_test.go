package board

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

// TestPagesAreTheSortedList reads a list page by page. Together the pages are what slices.Sort
// makes of all rows.
func TestPagesAreTheSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := Order{Descending: rapid.Bool().Draw(t, "descending"), Limit: rapid.IntRange(1, 9).Draw(t, "limit")}
		all := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 40).Draw(t, "values")
		var want, got []Cursor
		for n, v := range all {
			want = append(want, Cursor{Value: v, Number: n})
		}
		slices.SortFunc(want, func(a, b Cursor) int {
			if order.Descending {
				return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Number, b.Number))
			}
			return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Number, b.Number))
		})
		for {
			s := selection{order: order}
			for n, v := range all {
				s.add(Cursor{Value: v, Number: n})
			}
			rows, next := s.page()
			if len(rows) > order.Limit || s.total != len(all) || len(s.kept) > 2*order.Limit {
				t.Fatalf("%d rows on a page of %d; %d in all, want %d", len(rows), order.Limit, s.total, len(all))
			}
			got = append(got, rows...)
			if order.After = next; next == nil {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages have %v, want %v", got, want)
		}
	})
}

func TestListsAreFilteredAndSorted(t *testing.T) {
	l := newLargeJob(t, 30)
	l.run(20)
	l.do(cluster.SubmitJob{Spec: cluster.JobSpec{Name: "Nightly sort", User: "ann", Graph: dag.MapReduce(1, 0), MaxAttempts: [2]int{1, 1}}})
	s := l.board.Snapshot()
	tasks := func(f TaskFilter, o Order) string {
		page, err := s.Tasks(jobOne, f, o)
		if err != nil {
			return err.Error()
		}
		var numbers []string
		for _, task := range page.Tasks {
			numbers = append(numbers, fmt.Sprintf("%s%d", task.ID.Stage, task.ID.Number))
		}
		return fmt.Sprint(page.Total, numbers, page.Next != nil)
	}
	jobs := func(f JobFilter, o Order) string {
		page, err := s.List(f, o)
		if err != nil {
			return err.Error()
		}
		var numbers []int
		for _, j := range page.Jobs {
			numbers = append(numbers, j.ID.Number)
		}
		return fmt.Sprint(page.Total, numbers, page.Next != nil)
	}
	for i, c := range []struct{ got, want string }{
		{tasks(TaskFilter{Stage: "r"}, Order{}), "1 [r0] false"},
		{tasks(TaskFilter{Stage: "m"}, Order{Limit: 2}), "30 [m0 m1] true"},
		{tasks(TaskFilter{Stage: "m"}, Order{Limit: 2, After: &Cursor{Number: 28}}), "30 [m29] false"},
		{tasks(TaskFilter{States: []cluster.TaskState{cluster.TaskSucceeded}}, Order{By: ByBytes, Descending: true, Limit: 1}), "20 [m19] true"},
		{tasks(TaskFilter{Machine: "n1"}, Order{}), "2 [m0 m1] false"},
		{tasks(TaskFilter{Place: PlaceNode}, Order{By: ByIn, Descending: true, Limit: 2}), "12 [m19 m17] true"},
		{tasks(TaskFilter{}, Order{By: ByAttempts, Descending: true, Limit: 2}), "31 [m0 m10] true"},
		{tasks(TaskFilter{}, Order{By: ByPriority}), `board: tasks have no column "priority"`},
		{jobs(JobFilter{}, Order{By: ByTasks, Descending: true}), "2 [1 2] false"},
		{jobs(JobFilter{Name: "SORT", User: "ann", Pool: "default"}, Order{}), "1 [2] false"},
		{jobs(JobFilter{States: []cluster.JobState{cluster.JobRunning}}, Order{By: ByWaiting}), "1 [1] false"},
		{jobs(JobFilter{}, Order{By: ByBytes}), `board: jobs have no column "bytes"`},
	} {
		if c.got != c.want {
			t.Errorf("list %d: %s, want %s", i, c.got, c.want)
		}
	}
	_, err := s.Tasks(cluster.JobID{Cluster: "1", Number: 9}, TaskFilter{}, Order{})
	if !errors.Is(err, cluster.ErrUnknown) || !strings.Contains(err.Error(), "job_1_0009") {
		t.Errorf("tasks of an unknown job: %v", err)
	}
}

// TestQuantilesAreValues compares quantiles with their definition.
func TestQuantilesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 300).Draw(t, "values")
		q := quantilesOf(slices.Clone(values))
		for percent, got := range map[int]int64{0: q.Min, 5: q.P5, 25: q.P25, 50: q.P50, 75: q.P75, 95: q.P95, 99: q.P99, 100: q.Max} {
			within, below := 0, 0
			for _, v := range values {
				if v <= got {
					within++
				}
				if v < got {
					below++
				}
			}
			if within*100 < percent*len(values) || percent > 0 && below*100 >= percent*len(values) || !slices.Contains(values, got) {
				t.Fatalf("p%d of %v is %d", percent, values, got)
			}
		}
	})
}

func TestSummaryByStageAndMachine(t *testing.T) {
	l := newLargeJob(t, 4)
	l.run(4)
	s := l.board.Snapshot()
	all, err := s.Summary(jobOne, false)
	if err != nil || len(all) != 1 || all[0].Stage != "m" || all[0].Tasks != 4 || all[0].Bytes.Min != 0 || all[0].Bytes.P50 != 31 || all[0].Bytes.Max != 93 || all[0].In.Max != 3 {
		t.Errorf("summary %+v, %v", all, err)
	}
	byMachine, err := s.Summary(jobOne, true)
	if err != nil || len(byMachine) != 3 || byMachine[0].Machine != "n1" || byMachine[0].Tasks != 2 || byMachine[0].Duration.Min == 0 {
		t.Errorf("by machine: %+v, %v", byMachine, err)
	}
}
