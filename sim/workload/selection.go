package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
)

// Selection selects jobs of histories. The zero value selects all.
type Selection struct {
	Jobs     []string // ids, each of which must be found; none for all jobs
	Pool     string   // "" for all
	From, To int64    // when jobs have finished, ms since the epoch; To itself is not selected; 0 for no limit
	MaxJobs  int      // more jobs are an error; 0 for no limit
}

// has reports whether a job is selected.
func (s *Selection) has(j *loggedJob) bool {
	switch {
	case len(s.Jobs) > 0 && !slices.Contains(s.Jobs, j.ID), s.Pool != "" && s.Pool != j.Pool:
		return false
	}
	return j.finish >= s.From && (s.To == 0 || j.finish < s.To)
}

// hasDay reports whether a job that has finished on a day can be selected.
func (s *Selection) hasDay(day time.Time) bool {
	return day.AddDate(0, 0, 1).UnixMilli() > s.From && (s.To == 0 || day.UnixMilli() < s.To)
}

// hasFile reports whether a file of that name can have a selected job. The file of one history has the
// name of its job.
func (s *Selection) hasFile(name string) bool {
	id, _, _ := strings.Cut(name, ".")
	_, err := cluster.ParseJobID(id)
	return len(s.Jobs) == 0 || err != nil || slices.Contains(s.Jobs, id)
}

// checkNumber refuses a number of jobs that is too large.
func (s *Selection) checkNumber(jobs int) error {
	if s.MaxJobs > 0 && jobs > s.MaxJobs {
		return fmt.Errorf("more than %d jobs are selected, which is the limit; select those of less time, or of one pool", s.MaxJobs)
	}
	return nil
}

// check reports jobs that are missing.
func (s *Selection) check(found []loggedLine) error {
	for _, id := range s.Jobs {
		if !slices.ContainsFunc(found, func(l loggedLine) bool { return l.job.ID == id }) {
			return fmt.Errorf("no selected job %.100q", id)
		}
	}
	if len(found) == 0 && (s.Pool != "" || s.From != 0 || s.To != 0) {
		return errors.New("no job is selected: none of that pool has finished in that time")
	}
	return nil
}
