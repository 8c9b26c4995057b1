package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/report"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/jobmaster/history"
)

// readerSource is the cluster as callers see it who may view it and may not read logs. It leaves out
// what tasks have printed, and the parts of causes that may quote records.
type readerSource struct{ Source }

// sourceFor returns the source of what a caller may see.
func (c *Config) sourceFor(caller access.Caller) Source {
	if access.May(caller, access.ReadLog, access.Object{Kind: "job"}) == nil {
		return c.Source
	}
	return readerSource{c.Source}
}

// withoutQuotes returns a cause up to its first colon: programs quote what they could not process
// behind it, as in "panic: parsing of …".
func withoutQuotes(cause string) string {
	cause, _, _ = strings.Cut(cause, ":")
	return cause
}

// Jobs implements Source.
func (s readerSource) Jobs(ctx context.Context, q JobQuery) (Answer[JobPage], error) {
	a, err := s.Source.Jobs(ctx, q)
	a.Value.Jobs = slices.Clone(a.Value.Jobs)
	for i := range a.Value.Jobs {
		a.Value.Jobs[i].Cause = withoutQuotes(a.Value.Jobs[i].Cause)
	}
	return a, err
}

// Job implements Source.
func (s readerSource) Job(ctx context.Context, id string) (Answer[report.Report], error) {
	a, err := s.Source.Job(ctx, id)
	a.Value.Failures = slices.Clone(a.Value.Failures)
	for i := range a.Value.Failures {
		f := &a.Value.Failures[i]
		f.Cause, f.Log, f.Stack = withoutQuotes(f.Cause), "", ""
	}
	return a, err
}

// Explain implements Source.
func (s readerSource) Explain(ctx context.Context, job, task string) (Answer[apidoc.Explanation], error) {
	a, err := s.Source.Explain(ctx, job, task)
	a.Value.Cause = withoutQuotes(a.Value.Cause)
	a.Value.Taken = attemptsWithoutQuotes(a.Value.Taken)
	if a.Value.Task != nil {
		copied := *a.Value.Task
		copied.Attempts = attemptsWithoutQuotes(copied.Attempts)
		a.Value.Task = &copied
	}
	return a, err
}

func attemptsWithoutQuotes(attempts []apidoc.ExplainedAttempt) []apidoc.ExplainedAttempt {
	attempts = slices.Clone(attempts)
	for i := range attempts {
		attempts[i].Cause = withoutQuotes(attempts[i].Cause)
	}
	return attempts
}

// Histories implements Source. It does not search in causes, since the number of hits would show them.
func (s readerSource) Histories(ctx context.Context, q HistoryQuery) (Answer[HistoryPage], error) {
	if q.Cause != "" {
		return Answer[HistoryPage]{}, &access.Refusal{Status: http.StatusUnauthorized, Text: "to search in causes needs the cluster's token; sign in, or send the header Authorization: Bearer TOKEN"}
	}
	a, err := s.Source.Histories(ctx, q)
	jobs := make([]*history.Summary, len(a.Value.Jobs))
	for i, job := range a.Value.Jobs {
		copied := *job
		copied.Cause = withoutQuotes(copied.Cause)
		jobs[i] = &copied
	}
	a.Value.Jobs = jobs
	return a, err
}
