package cluster

import (
	"fmt"
	"strings"
	"testing"
)

func TestIDsAreHadoops(t *testing.T) {
	id := AttemptID{TaskID{JobID{"1763724000000", 1}, "m", 12}, 3}
	for want, got := range map[string]string{
		"job_1763724000000_0001":                id.Task.Job.String(),
		"task_1763724000000_0001_m_000012":      id.Task.String(),
		"attempt_1763724000000_0001_m_000012_3": id.String(),
		"job_local17_12345":                     JobID{"local17", 12345}.String(),
		"task_local17_0001_s2_1000000":          TaskID{JobID{"local17", 1}, "s2", 1000000}.String(),
	} {
		if got != want {
			t.Errorf("printed as %s, want %s", got, want)
		}
	}
}

func TestParseGivesBackWhatWasPrinted(t *testing.T) {
	job := JobID{"local17", 12345}
	task := TaskID{job, "s2", 1000000}
	attempt := AttemptID{task, 0}
	if got, err := ParseJobID(job.String()); err != nil || got != job {
		t.Errorf("job: %v, %v", got, err)
	}
	if got, err := ParseTaskID(task.String()); err != nil || got != task {
		t.Errorf("task: %v, %v", got, err)
	}
	if got, err := ParseAttemptID(attempt.String()); err != nil || got != attempt {
		t.Errorf("attempt: %v, %v", got, err)
	}
}

// printed and parsed are the dumb twins of String and ParseAttemptID.
func printed(id AttemptID) string {
	return fmt.Sprintf("attempt_%s_%04d_%s_%06d_%d", id.Task.Job.Cluster, id.Task.Job.Number, id.Task.Stage, id.Task.Number, id.Number)
}

func parsed(s string) (id AttemptID, ok bool) {
	w := strings.Split(s, "_")
	if len(w) != 6 || w[1] == "" || !isStage(w[3]) {
		return id, false
	}
	id = AttemptID{TaskID{JobID{w[1], number(w[2])}, w[3], number(w[4])}, number(w[5])}
	return id, min(id.Task.Job.Number, id.Task.Number, id.Number) >= 0 && printed(id) == s
}

func TestNumbersHaveHadoopsDigits(t *testing.T) {
	for _, n := range []int{-12, -1, 0, 1, 9, 10, 99, 999, 1000, 9999, 10_000, 99_999, 100_000, 999_999, 1_000_000, 1<<31 - 1} {
		id := AttemptID{TaskID{JobID{"17", n}, "m", n}, n}
		if id.String() != printed(id) {
			t.Errorf("%d: printed as %s, want %s", n, id, printed(id))
		}
		if got, err := ParseAttemptID(id.String()); n >= 0 && (err != nil || got != id) {
			t.Errorf("%s is read as %v, %v", id, got, err)
		}
	}
}

func FuzzParseID(f *testing.F) {
	for _, s := range []string{
		"", "job_", "job_1_0001", "job__0001", "job_1_1", "task_1_0001_m_000000", "task_1_0001_x_000000",
		"attempt_1_0001_r_000000_0", "attempt_1_0001_s1_000000_-1", "attempt_1_0001_s_000000_0",
		"attempt_1_00001_m_000000_0", "attempt_1_0001_m_0000000_0", "attempt_1_0001_m_000000_00", "attempt_1_0001_m_000000_0_", "attempt1_0001_m_000000_0", "attempt_1_12345_s01_1000000_10",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseJobID(s); err == nil && id.String() != s {
			t.Errorf("%q is read as %v", s, id)
		}
		if id, err := ParseTaskID(s); err == nil && id.String() != s {
			t.Errorf("%q is read as %v", s, id)
		}
		id, err := ParseAttemptID(s)
		if want, ok := parsed(s); ok != (err == nil) || ok && id != want {
			t.Errorf("%q is read as %v, %v; want %v, %v", s, id, err, want, ok)
		}
	})
}
