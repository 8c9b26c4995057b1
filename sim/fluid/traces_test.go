package fluid

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The public traces, a day of a cluster each.
const (
	fb2009 = "FB-2009_samples_24_times_1hr_0.tsv"
	fb2010 = "FB-2010_samples_24_times_1hr_0.tsv"
)

// traceJobs are the jobs of a trace in a server with a load of 0.9: a job's size
// is in proportion to its bytes, all together 0.9 of the time between the first
// second and the last arrival.
func traceJobs(t testing.TB, name string) []Job {
	t.Helper()
	shared := os.Getenv("SHARED_DIR")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared") // beside the module
	}
	path := filepath.Join(shared, "traces", "swim", name)
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("%s is not here; SHARED_DIR names the directory that has traces/swim", path)
	}
	defer f.Close() // it was only read
	var jobs []Job
	var bytes float64
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		j := job(fields[0], number64(t, fields[1]), 0)
		for _, column := range fields[3:6] {
			j.SizeS += number64(t, column)
		}
		bytes += j.SizeS
		jobs = append(jobs, j)
	}
	scale := 0.9 * jobs[len(jobs)-1].ArrivalS / bytes
	for i := range jobs {
		jobs[i].SizeS *= scale
		jobs[i].EstimateS = jobs[i].SizeS
	}
	return jobs
}

func number64(t testing.TB, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func BenchmarkFB2010(b *testing.B) {
	jobs := traceJobs(b, fb2010)
	for _, d := range Disciplines() {
		b.Run(d, func(b *testing.B) {
			for b.Loop() {
				s := sojournsOf(b, d, jobs)
				var m float64
				for _, x := range s {
					m += x
				}
				b.ReportMetric(m/float64(len(s)), "mean")
			}
			b.ReportMetric(float64(len(jobs)), "jobs/op")
		})
	}
}
func BenchmarkFB2009(b *testing.B) {
	jobs := traceJobs(b, fb2009)
	for _, d := range Disciplines() {
		b.Run(d, func(b *testing.B) {
			for b.Loop() {
				s := sojournsOf(b, d, jobs)
				var m float64
				for _, x := range s {
					m += x
				}
				b.ReportMetric(m/float64(len(s)), "mean")
			}
			b.ReportMetric(float64(len(jobs)), "jobs/op")
		})
	}
}
