package fluid

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestReadJobs(t *testing.T) {
	const text = "\ufeffsize_s, weight,bin,estimate_s,jobid,arrival_s\r\n2.5,0.5,small,3,a,0\r\n\r\n1e3, 1 ,\"x,\ny\",0,\"b,\",7\r\n"
	jobs, err := ReadJobs("jobs.csv", strings.NewReader(text))
	want := []Job{
		{ID: "a", SizeS: 2.5, EstimateS: 3, Weight: 0.5},
		{ID: "b,", ArrivalS: 7, SizeS: 1000, Weight: 1},
	}
	if err != nil || !slices.Equal(jobs, want) {
		t.Errorf("jobs %v, error %v; want %v", jobs, err, want)
	}
	jobs, err = ReadJobs("jobs.csv", strings.NewReader("jobid,arrival_s,size_s\na,1,2\n"))
	if want := []Job{job("a", 1, 2)}; err != nil || !slices.Equal(jobs, want) {
		t.Errorf("jobs %v, error %v; want %v", jobs, err, want)
	}
}

func TestReadJobsRefuses(t *testing.T) {
	const head = "jobid,arrival_s,size_s\n"
	for text, want := range map[string]string{
		"":                             "f.csv: empty; expected a header with jobid, arrival_s and size_s",
		"jobid,size_s\n":               "f.csv:1: column arrival_s is missing; expected a header with jobid, arrival_s and size_s",
		"\njobid,size_s,size_s\n":      "f.csv:2: column size_s is repeated; expected it once",
		"jobid,\"x\n":                  "f.csv:1: column 10: extraneous or missing \" in quoted-field; expected CSV, with fields that contain quotes in quotes",
		head + "a,0,1\nb,0\n":          "f.csv:3: number of fields differs from the header; expected 3",
		head + "a,0,1\n\nb\",0,1\n":    "f.csv:4: column 2: bare \" in non-quoted-field; expected CSV, with fields that contain quotes in quotes",
		head + "a,zero,1\n":            `f.csv:2: job "a": arrival_s is "zero"; expected a number`,
		head + "a,0,\n":                `f.csv:2: job "a": size_s is ""; expected a number`,
		head + "a,0,1e999\n":           `f.csv:2: job "a": size_s is "1e999"; expected a number`,
		head + "a,0,NaN\n":             `f.csv:2: job "a": size_s is NaN; expected seconds from 0 to 1e+18`,
		head + "a,-1,1\n":              `f.csv:2: job "a": arrival_s is -1; expected seconds from 0 to 1e+18`,
		head + ",0,1\n":                "f.csv:2: jobid is empty; expected a name",
		head + "a,0,1\nb,0,1\na,0,1\n": `f.csv:4: job "a" is repeated, first at line 2; expected one job for each jobid`,
		head + "a,5,1\nb,4,1\n":        `f.csv:3: job "b" arrives at 4 s, before job "a" of line 2, which arrives at 5 s; expected jobs sorted by arrival_s`,
		"jobid,arrival_s,size_s,weight\na,0,1,0\n":      `f.csv:2: job "a": weight is 0; expected a number from 1e-09 to 1e+09`,
		"jobid,arrival_s,size_s,estimate_s\na,0,1,-1\n": `f.csv:2: job "a": estimate_s is -1; expected seconds from 0 to 1e+18`,
	} {
		if jobs, err := ReadJobs("f.csv", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, error %v; want %s", text, jobs, err, want)
		}
	}
	broken := errors.New("disk on fire")
	_, err := ReadJobs("f.csv", io.MultiReader(strings.NewReader(head), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "f.csv: ") {
		t.Errorf("error %v, want %v of f.csv", err, broken)
	}
}

func TestWriteSojourns(t *testing.T) {
	var out bytes.Buffer
	jobs := []Job{job("a", 0, 1), job("b,c", 0, 1), job("d", 0, 1), job("e", 0, 1)}
	must.Do(t, WriteSojourns(&out, jobs, []float64{27.5, 1.0 / 3, 0, 7.25e-9}))
	const want = "jobid,sojourn_s\na,27.5000000000000\n\"b,c\",0.333333333333333\nd,0.00000000000000\ne,7.25000000000000e-09\n"
	if out.String() != want {
		t.Errorf("wrote\n%s, want\n%s", &out, want)
	}
	full := errors.New("no space left")
	if err := WriteSojourns(fullDisk{full}, jobs, make([]float64, len(jobs))); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type fullDisk struct{ err error }

func (d fullDisk) Write([]byte) (int, error) { return 0, d.err }

// FuzzReadJobs checks that valid input is served to its end, and that errors name the file.
func FuzzReadJobs(f *testing.F) {
	f.Add("jobid,arrival_s,size_s\na,0,1\n")
	f.Add("jobid,arrival_s,size_s,estimate_s,weight\na,0,1,2,3\nb,0,0x1p-9,1e18,1e9\n")
	f.Add("\ufeffjobid,arrival_s,size_s\n\"a\n\",0,1\n")
	f.Add("jobid,arrival_s,size_s\na,5,1\na,4,-1\n,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := ReadJobs("f.csv", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.csv:") || jobs != nil {
				t.Fatalf("jobs %v, error %v", jobs, err)
			}
			return
		}
		for _, d := range Disciplines() {
			for i, s := range sojournsOf(t, d, jobs) {
				if !(s >= jobs[i].SizeS*(1-1e-15)-1e-22) {
					t.Fatalf("%s: job %+v has a sojourn time of %v s", d, jobs[i], s)
				}
			}
		}
	})
}
