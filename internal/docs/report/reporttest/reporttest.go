// Package reporttest has checks of job reports for tests.
package reporttest

import (
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
)

// FinishedOnce checks that each task of a job has finished in one attempt, and that all its other
// attempts were preempted. It returns the number of preempted attempts.
func FinishedOnce(t testing.TB, doc report.Report) (preempted int) {
	t.Helper()
	for _, task := range doc.Tasks {
		finished := 0
		for _, a := range task.Attempts {
			switch a.State {
			case report.Succeeded:
				finished++
			case report.Preempted:
				preempted++
			default:
				t.Errorf("attempt %+v", a)
			}
		}
		if finished != 1 {
			t.Errorf("%s was finished %d times: %+v", task.ID, finished, task.Attempts)
		}
	}
	return preempted
}
