package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/counter"
	"github.com/hammr/hammr/jobmaster/histindex"
	"github.com/hammr/hammr/jobmaster/history"
)

// HistorySource has the histories of finished jobs. A source without them embeds NoHistory.
type HistorySource interface {
	// Histories returns a page of the finished jobs, also of those that have left the masters.
	Histories(ctx context.Context, q HistoryQuery) (Answer[HistoryPage], error)
	// TypeCounters returns the counters of the tasks of a job by the type of the tasks, MAP or REDUCE:
	// of finished tasks and, on the leader, of running attempts as they last reported. The error wraps
	// ErrUnknown if the history of the job does not have them.
	TypeCounters(ctx context.Context, job string) (Answer[map[string]counter.Values], error)
	// TaskCounters returns the counters of the winner of a task. The error wraps ErrUnknown if it has
	// none, or the history of the job does not have them.
	TaskCounters(ctx context.Context, job, task string) (Answer[counter.Values], error)
}

// DrillSource has the reports of drills in a directory.
type DrillSource interface {
	// Drills returns the drills, the newest first.
	Drills(ctx context.Context) (Answer[DrillList], error)
	// Drill returns the report of one drill.
	Drill(ctx context.Context, id string) (Answer[DrillReport], error)
}

// HistoryQuery selects and sorts finished jobs. The zero value selects all.
type HistoryQuery struct {
	States    []string // of apidoc.JobStates; none for all
	User      string
	Pool      string
	Text      string // part of the id or name, in any case of letters
	Cause     string // part of the cause, in any case of letters
	From, To  int64  // finish time, ms since the epoch; To itself is not selected; 0 for no limit
	MinMillis int64  // from the submission to the end, ms; 0 for no limit
	MaxMillis int64  // likewise
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

// HistoryColumns are the columns by which finished jobs can be sorted. The first identifies a job.
var HistoryColumns = []Column[*history.Summary]{
	{Name: "id", Heading: "Job", Text: func(s *history.Summary) string { return s.ID }},
	{Name: "name", Heading: "Name", Text: func(s *history.Summary) string { return s.Name }},
	{Name: "state", Heading: "State", Text: func(s *history.Summary) string { return s.State }},
	{Name: "user", Heading: "User", Text: func(s *history.Summary) string { return s.User }},
	{Name: "queue", Heading: "Pool", Text: func(s *history.Summary) string { return s.Queue }},
	{Name: "submitTime", Heading: "Submitted", Number: func(s *history.Summary) float64 { return float64(s.SubmitTime) }},
	{Name: "finishTime", Heading: "Finished", Number: func(s *history.Summary) float64 { return float64(s.FinishTime) }},
	{Name: "elapsedMillis", Heading: "Took", Right: true, Number: func(s *history.Summary) float64 { return float64(elapsed(s)) }},
	{Name: "waitedMillis", Heading: "First slot after", Right: true, Number: func(s *history.Summary) float64 { return float64(waited(s)) }},
	{Name: "maps", Heading: "Maps", Right: true, Number: func(s *history.Summary) float64 { return float64(s.Maps) }},
	{Name: "reduces", Heading: "Reduces", Right: true, Number: func(s *history.Summary) float64 { return float64(s.Reduces) }},
	{Name: "outputBytes", Heading: "Output", Right: true, Number: func(s *history.Summary) float64 { return float64(s.OutputBytes) }},
}

// elapsed returns how long a job took from its submission, in ms.
func elapsed(s *history.Summary) int64 { return max(s.FinishTime-s.SubmitTime, 0) }

// waited returns how long a job waited for its first slot, in ms; 0 if it had none.
func waited(s *history.Summary) int64 {
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
		switch took := elapsed(s); {
		case len(q.States) > 0 && !contains(q.States, s.State):
		case q.User != "" && q.User != s.User, q.Pool != "" && q.Pool != s.Queue:
		case q.From != 0 && s.FinishTime < q.From, q.To != 0 && s.FinishTime >= q.To:
		case took < q.MinMillis, q.MaxMillis != 0 && took > q.MaxMillis:
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

// Drill is the outcome of a drill in a list. Times are in ms.
type Drill struct {
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
	Drills    []Drill             `json:"drills"`
	Total     string              `json:"total"`    // of drills.csv, which has drills without a report too; "" if there is no such file
	Problems  []histindex.Problem `json:"problems"` // reports that cannot be used
}

// DrillReport is the report of a drill.
type DrillReport struct {
	Drill   Drill          `json:"drill"`
	Plan    string         `json:"plan"` // as hammr chaos run --plan reads it
	Verdict *chaos.Verdict `json:"verdict"`
}

// DrillOf returns the line of a list. plan is nil if the plan cannot be read.
func DrillOf(id string, plan *chaos.Plan, v *chaos.Verdict) Drill {
	d := Drill{
		ID: id, Seed: v.Seed, Good: v.Good, Injected: v.Injected(), Planned: len(v.Faults), Jobs: len(v.Jobs),
		Bytes: v.Bytes, Lost: v.Lost, ExtraAttempts: v.ExtraAttempts, WorkLost: v.WorkLost, Recovery: v.Recovery, Elapsed: v.Elapsed,
	}
	if plan != nil && len(plan.Faults) >= len(v.Faults) {
		d.Kinds = chaos.RowOf(plan, v).Kinds
	}
	return d
}

// NoHistory is the HistorySource of a program that has no histories.
type NoHistory struct{}

var _ HistorySource = NoHistory{}

// errNoHistory is the error of NoHistory.
var errNoHistory = fmt.Errorf("this program has no directory of histories; start hammr ui with --history DIR: %w", ErrUnknown)

// Histories implements HistorySource.
func (NoHistory) Histories(context.Context, HistoryQuery) (a Answer[HistoryPage], err error) {
	return a, errNoHistory
}

// TypeCounters implements HistorySource.
func (NoHistory) TypeCounters(context.Context, string) (a Answer[map[string]counter.Values], err error) {
	return a, errNoHistory
}

// TaskCounters implements HistorySource.
func (NoHistory) TaskCounters(context.Context, string, string) (a Answer[counter.Values], err error) {
	return a, errNoHistory
}

// optional makes an unknown value the zero value.
func optional[T any](c *call, a Answer[T], err error) (value T, err2 error) {
	if errors.Is(err, ErrUnknown) {
		return value, nil
	}
	return use(c, a, err)
}
