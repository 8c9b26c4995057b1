package live

import (
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestErrorsOfPredictions(t *testing.T) {
	r := calibrationResults([]Predicted{
		{"p", "fifo", "a", 10_000, 11_000, 10_000},
		{"p", "fifo", "b", 20_000, 15_000, 20_000},
	})
	var summary, samples strings.Builder
	must.Do(t, r.Summary.Text(&summary))
	const want = `  PLAN  POLICY  JOBS  REAL MEAN  REPLAY MEAN   ERROR   WORST  FORECAST MEAN  ERROR  WORST
     p    fifo     2    15.00 s      13.00 s  17.5 %  25.0 %        15.00 s  0.0 %  0.0 %
`
	if summary.String() != want {
		t.Errorf("summary:\n%s", summary.String())
	}
	must.Do(t, r.Samples.CSV(&samples))
	if got := strings.Split(samples.String(), "\n"); got[2] != "p,fifo,b,20.000,15.000,20.000,-0.2500,0.0000" {
		t.Errorf("line %q", got[2])
	}
}

// TestSleepingCalibration checks that what is predicted is a queue: more work than the
// slots can do at once, by jobs that differ.
func TestSleepingCalibration(t *testing.T) {
	last := time.Duration(0)
	for _, j := range sleepingCalibration().Jobs {
		if j.At < last || j.Args[0] != "sleep" {
			t.Errorf("job %+v behind one at %v", j, last)
		}
		last = j.At
	}
}
