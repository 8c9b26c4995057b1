package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
)

// someView has n finished jobs of the last ten days before noon of 2026-11-23.
func someView(n int) *histindex.View {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC).UnixMilli()
	v := new(histindex.View)
	states := []string{"SUCCEEDED", "SUCCEEDED", "FAILED", "KILLED"}
	for i := range n {
		finish := noon - int64(i)*10*24*3600_000/int64(n)
		s := &history.Summary{
			ID: fmt.Sprintf("job_1_%06d", i), Name: fmt.Sprintf("Report %d of region %d", i, i%97), User: fmt.Sprintf("user%d", i%7), Queue: fmt.Sprintf("pool%d", i%3), State: states[i%4],
			SubmitTime: finish - 1000 - int64(i*7919%100_000), FinishTime: finish, OutputBytes: int64(i * 31 % 1009),
		}
		if s.State == "FAILED" {
			s.Cause = fmt.Sprintf("task %d: Disk quota exceeded", i)
		}
		v.Jobs = append(v.Jobs, s)
	}
	return v
}

// TestSelectHistories compares each filter with a walk over all jobs.
func TestSelectHistories(t *testing.T) {
	v := someView(1000)
	day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).UnixMilli()
	for name, c := range map[string]struct {
		q    HistoryQuery
		keep func(s *history.Summary) bool
	}{
		"all":      {HistoryQuery{}, func(*history.Summary) bool { return true }},
		"state":    {HistoryQuery{States: []string{"FAILED", "KILLED"}}, func(s *history.Summary) bool { return s.State != "SUCCEEDED" }},
		"user":     {HistoryQuery{User: "user3"}, func(s *history.Summary) bool { return s.User == "user3" }},
		"pool":     {HistoryQuery{Pool: "pool1"}, func(s *history.Summary) bool { return s.Queue == "pool1" }},
		"name":     {HistoryQuery{Text: "REGION 5"}, func(s *history.Summary) bool { return strings.Contains(s.Name, "region 5") }},
		"id":       {HistoryQuery{Text: "job_1_000042"}, func(s *history.Summary) bool { return s.ID == "job_1_000042" }},
		"cause":    {HistoryQuery{Cause: "disk QUOTA"}, func(s *history.Summary) bool { return s.Cause != "" }},
		"day":      {HistoryQuery{From: Time(day), To: EndTime(day + 24*3600_000)}, func(s *history.Summary) bool { return s.FinishTime >= day && s.FinishTime < day+24*3600_000 }},
		"duration": {HistoryQuery{Min: 20_000, Max: 60_000}, func(s *history.Summary) bool { return Elapsed(s) >= 20_000 && Elapsed(s) <= 60_000 }},
	} {
		var want []string
		for _, s := range v.Jobs {
			if c.keep(s) {
				want = append(want, s.ID)
			}
		}
		var got []string
		for c.q.Limit = 300; ; {
			page, err := SelectHistories(v, c.q, "")
			if err != nil || page.Total != len(want) || page.States["FAILED"] != 250 {
				t.Fatalf("%s: %d of %d, %v, %v", name, page.Total, len(want), page.States, err)
			}
			for _, s := range page.Jobs {
				got = append(got, s.ID)
			}
			if c.q.Cursor = page.Next; c.q.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) || len(want) == 0 { // the view is sorted by the finish time
			t.Errorf("%s: %d jobs, want %d", name, len(got), len(want))
		}
	}
	slowest, err := SelectHistories(v, HistoryQuery{Page: Page{Sort: "-elapsedMillis", Limit: 1}}, "")
	for _, s := range v.Jobs {
		if err != nil || Elapsed(s) > Elapsed(slowest.Jobs[0]) {
			t.Fatalf("%s is slower, %v", s.ID, err)
		}
	}
}

func TestContainsFold(t *testing.T) {
	for _, c := range []struct {
		text, lower string
		want        bool
	}{
		{"Nightly Sort", "ly so", true}, {"Nightly", "nightly", true}, {"Nightly", "nightly ", false}, {"", "", true}, {"x", "", true}, {"aab", "ab", true},
		{"Größe ÄNDERN", "ändern", true}, {"日本", "本", true}, {"abc", "日", false}, {"aZ[", "z[", true},
	} {
		if got := containsFold(c.text, c.lower); got != c.want {
			t.Errorf("%q contains %q: %v", c.text, c.lower, got)
		}
	}
}

// TestHistoryQuery parses parameters, and writes them as a client does.
func TestHistoryQuery(t *testing.T) {
	got, err := Histories.Parse(map[string]string{"state": "FAILED,KILLED", "from": "2026-11-22", "to": "2026-11-22", "min": "90s", "max": "2h", "limit": "5"})
	day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).UnixMilli()
	want := HistoryQuery{States: []string{"FAILED", "KILLED"}, From: Time(day), To: EndTime(day + 24*3600_000), Min: 90_000, Max: 7_200_000, Page: Page{Limit: 5}}
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, want := Histories.URL(want), "/history?from=2026-11-22T00%3A00%3A00Z&limit=5&max=2h0m0s&min=1m30s&state=FAILED%2CKILLED&to=2026-11-23T00%3A00%3A00Z"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	if q, err := Histories.Parse(map[string]string{"to": "2026-11-22T01:00:00Z"}); err != nil || q.(HistoryQuery).To != EndTime(day+3600_000) {
		t.Errorf("%+v, %v", q, err)
	}
}
