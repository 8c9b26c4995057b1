package docs

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/docs/history"
	"github.com/hammr/hammr/internal/rpc/access"
)

// HistoryQuery selects and sorts finished jobs. The zero value selects all.
type HistoryQuery struct {
	States []string `param:"state" enum:"finalJobStates" doc:"states of the jobs, joined by commas"` // none for all
	User   string   `param:"user" doc:"user of the jobs"`
	Pool   string   `param:"pool" doc:"pool of the jobs"`
	Text   string   `param:"q" doc:"part of the id or name"`                               // in any case of letters
	Cause  string   `param:"cause" doc:"part of the cause why a job failed or was killed"` // in any case of letters
	From   Time     `param:"from" doc:"the jobs have finished at this time or later: a day as 2026-11-23, in UTC, or a time of RFC 3339"`
	To     EndTime  `param:"to" doc:"the jobs have finished on this day or before, or before this time"`
	Min    Millis   `param:"min" doc:"the least time that a job took, as 90s, 10m or 2h"` // from the submission to the end
	Max    Millis   `param:"max" doc:"the longest time that a job took"`
	Page
}

// HistoryPage is a page of the finished jobs.
type HistoryPage struct {
	Jobs     []*history.Summary  `json:"jobs"`
	Total    int                 `json:"total"`          // jobs that match
	Next     string              `json:"next,omitempty"` // cursor of the next page; absent on the last
	States   map[string]int      `json:"states"`         // all jobs, by state
	Loading  bool                `json:"loading"`        // more jobs are being read
	LeftOut  bool                `json:"leftOut"`        // the oldest jobs are left out, because there are too many
	Problems []histindex.Problem `json:"problems"`       // files that cannot be used
}

// DrillID names the report of a drill.
type DrillID struct {
	Drill string `param:"drill" doc:"name of the directory of a drill's report"`
}

// Documents of finished jobs and of drills.
var (
	// Histories is a page of the finished jobs, also of those that have left the masters.
	Histories = redacted(list(document[HistoryQuery, HistoryPage]("/history", "job", "A page of the finished jobs, also of those that have left the masters."),
		HistoryColumns, "-finishTime", func(p HistoryPage) ([]*history.Summary, string) { return p.Jobs, p.Next }), publicHistories)
	// Drills lists the drills, the newest first.
	Drills = document[No, DrillList]("/drills", "cluster", "Drills with their outcomes.")
	// Drill is the report of one drill.
	Drill = document[DrillID, DrillReport]("/drills/{drill}", "cluster", "The report of a drill.")
)

// publicHistories does not search in causes, since the number of hits would show them.
func publicHistories(q HistoryQuery, p HistoryPage) (HistoryPage, error) {
	if q.Cause != "" {
		return HistoryPage{}, &access.Refusal{Status: http.StatusUnauthorized, Text: "to search in causes needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"}
	}
	jobs := make([]*history.Summary, len(p.Jobs))
	for i, job := range p.Jobs {
		copied := *job
		copied.Cause = WithoutQuotes(copied.Cause)
		jobs[i] = &copied
	}
	p.Jobs = jobs
	return p, nil
}

// HistoryColumns are the columns by which finished jobs can be sorted. The first identifies a job.
var HistoryColumns = []Column[*history.Summary]{
	{Name: "id", Heading: "Job", Text: func(s *history.Summary) string { return s.ID }},
	{Name: "name", Heading: "Name", Text: func(s *history.Summary) string { return s.Name }},
	{Name: "state", Heading: "State", Text: func(s *history.Summary) string { return s.State }},
	{Name: "user", Heading: "User", Text: func(s *history.Summary) string { return s.User }},
	{Name: "queue", Heading: "Pool", Text: func(s *history.Summary) string { return s.Queue }},
	{Name: "submitTime", Heading: "Submitted", Number: func(s *history.Summary) float64 { return float64(s.SubmitTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(s *history.Summary) float64 { return float64(s.FinishTime) }},
	{Name: "elapsedMillis", Heading: "Took", Right: true, Number: func(s *history.Summary) float64 { return float64(Elapsed(s)) }},
	{Name: "waitedMillis", Heading: "First slot after", Right: true, Number: func(s *history.Summary) float64 { return float64(Waited(s)) }},
	{Name: "maps", Heading: "Maps", Right: true, Number: func(s *history.Summary) float64 { return float64(s.Maps) }},
	{Name: "reduces", Heading: "Reduces", Right: true, Number: func(s *history.Summary) float64 { return float64(s.Reduces) }},
	{Name: "outputBytes", Heading: "Output", Right: true, Number: func(s *history.Summary) float64 { return float64(s.OutputBytes) }},
}

// Elapsed returns how long a job took from its submission, in ms.
func Elapsed(s *history.Summary) int64 { return max(s.FinishTime-s.SubmitTime, 0) }

// Waited returns how long a job waited for its first slot, in ms; 0 if it had none.
func Waited(s *history.Summary) int64 {
	if s.StartTime == 0 {
		return 0
	}
	return max(s.StartTime-s.SubmitTime, 0)
}

// SelectHistories returns the page of jobs that a query selects. list names the directory, as in
// PageOf.
func SelectHistories(v *histindex.View, q HistoryQuery, list string) (page HistoryPage, err error) {
	page = HistoryPage{States: make(map[string]int), Loading: v.Loading, LeftOut: v.LeftOut, Problems: append([]histindex.Problem{}, v.Problems...)}
	text, cause := strings.ToLower(q.Text), strings.ToLower(q.Cause)
	keep := func(job **history.Summary) bool {
		s := *job
		page.States[s.State]++
		switch took := Elapsed(s); {
		case len(q.States) > 0 && !slices.Contains(q.States, s.State):
		case q.User != "" && q.User != s.User, q.Pool != "" && q.Pool != s.Queue:
		case q.From != 0 && s.FinishTime < int64(q.From), q.To != 0 && s.FinishTime >= int64(q.To):
		case took < int64(q.Min), q.Max != 0 && took > int64(q.Max):
		case text != "" && !strings.Contains(s.ID, text) && !containsFold(s.Name, text):
		case cause != "" && !containsFold(s.Cause, cause):
		default:
			return true
		}
		return false
	}
	page.Jobs, page.Total, page.Next, err = PageOf(v.Jobs, keep, HistoryColumns, q.Page, "-finishTime", cmp.Or(list, "history"))
	return page, err
}

// containsFold reports whether a text contains another in any case of letters. lower has only small
// letters. It makes no copy of a text in ASCII: there can be 100,000 of them.
func containsFold(text, lower string) bool {
	for i := 0; i+len(lower) <= len(text); i++ {
		n := 0
		for n < len(lower) {
			c := text[i+n]
			if c >= utf8.RuneSelf {
				return strings.Contains(strings.ToLower(text), lower)
			}
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != lower[n] {
				break
			}
			n++
		}
		if n == len(lower) {
			return true
		}
	}
	return false
}

// DrillRow is the outcome of a drill in a list. Times are in ms.
type DrillRow struct {
	ID            string `json:"id"` // name of the directory of its report
	Seed          uint64 `json:"seed"`
	Good          bool   `json:"good"`
	Kinds         string `json:"kinds"`    // of the faults that were injected, joined by +
	Injected      int    `json:"injected"` // faults that were injected
	Planned       int    `json:"planned"`  // faults of the plan
	Jobs          int    `json:"jobs"`
	Bytes         int64  `json:"bytes"` // of output, compared with an undisturbed run
	Lost          int64  `json:"lost"`  // output files that are missing, in excess, or different
	ExtraAttempts int    `json:"attemptsAgain"`
	WorkLost      int64  `json:"workLostMs"`
	Recovery      int64  `json:"recoveryMs"` // the longest of any fault
	Elapsed       int64  `json:"elapsedMs"`
}

// DrillList is the drills of a directory.
type DrillList struct {
	Directory string              `json:"directory"`
	Drills    []DrillRow          `json:"drills"`
	Total     string              `json:"total"`    // of drills.csv, which has drills without a report too; "" if there is no such file
	Problems  []histindex.Problem `json:"problems"` // reports that cannot be used
}

// DrillReport is the report of a drill.
type DrillReport struct {
	Drill   DrillRow       `json:"drill"`
	Plan    string         `json:"plan"` // as hammr chaos run --plan reads it
	Verdict *chaos.Verdict `json:"verdict"`
}

// DrillRowOf returns the line of a list. plan is nil if the plan cannot be read.
func DrillRowOf(id string, plan *chaos.Plan, v *chaos.Verdict) DrillRow {
	d := DrillRow{
		ID: id, Seed: v.Seed, Good: v.Good, Injected: v.Injected(), Planned: len(v.Faults), Jobs: len(v.Jobs),
		Bytes: v.Bytes, Lost: v.Lost, ExtraAttempts: v.ExtraAttempts, WorkLost: v.WorkLost, Recovery: v.Recovery, Elapsed: v.Elapsed,
	}
	if plan != nil && len(plan.Faults) >= len(v.Faults) {
		d.Kinds = chaos.RowOf(plan, v).Kinds
	}
	return d
}
