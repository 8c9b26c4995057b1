package docs

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// TestQuantilesAreValues compares quantiles with their definition.
func TestQuantilesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 300).Draw(t, "values")
		q := quantilesOf(slices.Clone(values)).List()
		for i, percent := range []int{0, 5, 25, 50, 75, 95, 99, 100} {
			within, below := 0, 0
			for _, v := range values {
				if v <= q[i] {
					within++
				}
				if v < q[i] {
					below++
				}
			}
			if within*100 < percent*len(values) || percent > 0 && below*100 >= percent*len(values) || !slices.Contains(values, q[i]) {
				t.Fatalf("p%d of %v is %d", percent, values, q[i])
			}
		}
	})
}

// TestSelectedTasksAreThoseThatMatch compares pages with a sorted list of all rows.
func TestSelectedTasksAreThoseThatMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := new(apidoc.TaskColumns)
		for n := range rapid.IntRange(0, 200).Draw(t, "tasks") {
			c.Add(&apidoc.TaskRow{
				Type: "MAP", Stage: "m", Number: n, State: rapid.SampledFrom(TaskStates).Draw(t, "state"), Node: rapid.SampledFrom([]string{"", "n1", "n2"}).Draw(t, "node"),
				Place: rapid.SampledFrom(Places).Draw(t, "place"), Duration: rapid.Int64Range(0, 9).Draw(t, "duration"), Bytes: int64(n % 7),
			})
		}
		pick := func(values []string) string {
			return rapid.SampledFrom(append([]string{""}, values...)).Draw(t, "filter")
		}
		q := TaskQuery{Job: "job_1_0001", State: pick(TaskStates), Node: pick([]string{"n1"}), Place: pick(Places), Stage: pick([]string{"m", "r"}), MinDuration: rapid.Int64Range(0, 3).Draw(t, "least")}
		column := rapid.SampledFrom(TaskColumns).Draw(t, "column")
		descending := rapid.Bool().Draw(t, "descending")
		q.Sort, q.Limit = column.Name, rapid.IntRange(1, 50).Draw(t, "limit")
		if descending {
			q.Sort = "-" + q.Sort
		}
		var want []apidoc.TaskRow
		for i := range c.Len() {
			r := c.Row("job_1_0001", i)
			if (q.State == "" || r.State == q.State) && (q.Node == "" || r.Node == q.Node) && (q.Place == "" || r.Place == q.Place) && (q.Stage == "" || r.Stage == q.Stage) && r.Duration >= q.MinDuration {
				want = append(want, r)
			}
		}
		slices.SortStableFunc(want, func(a, b apidoc.TaskRow) int {
			if d := column.value(a).compare(column.value(b)); descending {
				return -d
			} else {
				return d
			}
		})
		if column.Name == "id" && descending {
			slices.SortFunc(want, func(a, b apidoc.TaskRow) int { return b.Number - a.Number })
		}
		var got []apidoc.TaskRow
		for first := true; first || q.Cursor != ""; first = false {
			page, err := SelectTasks(c, q)
			if err != nil || page.Total != len(want) {
				t.Fatalf("total %d, %v, want %d", page.Total, err, len(want))
			}
			got, q.Cursor = append(got, page.Tasks...), page.Next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v: got %v, want %v", q, got, want)
		}
	})
}

func TestColumnsHaveTheSameNames(t *testing.T) {
	byPlace := columnsByPlace(new(apidoc.TaskColumns))
	for i, c := range TaskColumns {
		if byPlace[i].Name != c.Name {
			t.Errorf("column %d is %s and %s", i, c.Name, byPlace[i].Name)
		}
	}
}

// TestPagesOfAListHaveEachRowOnce reads a list page by page, in each order, while rows are added.
func TestPagesOfAListHaveEachRowOnce(t *testing.T) {
	tasks := new(apidoc.TaskColumns)
	for n := range 500 {
		tasks.Add(&apidoc.TaskRow{Type: "MAP", Stage: "m", Number: n, State: TaskStates[n%7], Node: fmt.Sprint("n", n%50), Place: Places[n%5], StartTime: int64(n % 9), Duration: int64(n * 7919 % 60), Bytes: int64(n % 3), Records: int64(n)})
	}
	for _, column := range TaskColumns {
		for _, sign := range []string{"", "-"} {
			seen := map[string]int{}
			q := TaskQuery{Job: "job_1_0001", Page: Page{Sort: sign + column.Name, Limit: 37}}
			for {
				page, err := SelectTasks(tasks, q)
				if err != nil || page.Total != tasks.Len() {
					t.Fatalf("%s: total %d, %v", q.Sort, page.Total, err)
				}
				for _, task := range page.Tasks {
					seen[task.ID]++
				}
				if q.Cursor = page.Next; page.Next == "" {
					break
				}
			}
			for id, n := range seen {
				if n != 1 {
					t.Errorf("sorted by %s: %s is on %d pages", q.Sort, id, n)
				}
			}
			if len(seen) != tasks.Len() {
				t.Errorf("sorted by %s: %d of %d tasks", q.Sort, len(seen), tasks.Len())
			}
		}
	}
}
