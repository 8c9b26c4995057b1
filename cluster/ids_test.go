package cluster

import "testing"

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

func FuzzParseID(f *testing.F) {
	for _, s := range []string{
		"", "job_", "job_1_0001", "job__0001", "job_1_1", "task_1_0001_m_000000", "task_1_0001_x_000000",
		"attempt_1_0001_r_000000_0", "attempt_1_0001_s1_000000_-1", "attempt_1_0001_s_000000_0",
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
		if id, err := ParseAttemptID(s); err == nil && id.String() != s {
			t.Errorf("%q is read as %v", s, id)
		}
	})
}
