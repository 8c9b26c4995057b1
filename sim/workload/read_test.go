package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

const csvHead = "job,arrival_s,maps,reduces,map_input_bytes,shuffle_bytes\n"

func wantError(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", want)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestFormatByContent(t *testing.T) {
	for text, want := range map[string]Format{
		csvHead + "a,0,1,0,0,0\n":                       CSV,
		"job0\t9\t9\t1762\t0\t14347\n":                  SWIMTrace,
		"\n {\"jobID\" : \"job_1\", \"submitTime\": 1}": RumenTrace,
		"[{}]":                                 RumenTrace,
		`{"type":"job","version":2,"job":{}}`:  HistoryLogs,
		"{\n \"version\": 1, \"jobId\": \"j\"": HistoryLogs,
		"jobs=1,arrival=exp:13s":               SpecText,
		"arrival=exp:1s\nclass=a,jobs=1":       SpecText,
		"hello":                                "",
		"":                                     "",
	} {
		if got := detectFormat([]byte(text)); got != want {
			t.Errorf("%q looks like %q, want %q", text, got, want)
		}
	}
	_, err := Read(strings.NewReader("hello\nyou"), "x", Options{})
	wantError(t, err, "x:1:", `"hello"`, "csv, history, rumen, spec, swim")
	_, err = Read(strings.NewReader("hello"), "x", Options{Format: "xml"})
	wantError(t, err, `"xml"`, "csv, history, rumen, spec, swim")
	_, err = Read(strings.NewReader("1,2"), "x", Options{Format: SWIMTrace})
	wantError(t, err, "x:1: 1 columns, expected 6")
}

func TestReadFileMissing(t *testing.T) {
	_, err := ReadFile(filepath.Join(t.TempDir(), "none.csv"), Options{})
	wantError(t, err, "none.csv")
	_, err = ReadFile(t.TempDir(), Options{Format: CSV})
	wantError(t, err, "is a directory, expected a file for format csv")
	_, err = ReadFile(t.TempDir(), Options{})
	wantError(t, err, "no jobs, expected at least one")
}

func TestInvalidOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"sigma -1":                  {Model: Model{Sigma: -1}},
		"block of -1 bytes":         {Model: Model{BlockBytes: -1}},
		"expected longer than":      {Model: Model{BlockTime: 1}},
		"-3 target nodes":           {SWIM: SWIM{TargetMachines: -3}},
		"blocks of -1 bytes":        {SWIM: SWIM{BlockBytes: -1}},
		"at most -1 tasks":          {MaxTasks: -1},
		"13 tasks beyond the 0 bef": {MaxTasks: 12},
	} {
		_, err := ReadCSV(strings.NewReader(csvHead+"a,0,13,0,0,0\n"), "x", o)
		wantError(t, err, want)
	}
}

func TestCSVColumns(t *testing.T) {
	text := "weight,job,maps,reduces,arrival_s,map_input_bytes,shuffle_bytes,pool,user,priority,slow_start,name,bin,source_job\n" +
		"2.5,a,2,3,1.5,5,10,p,ann,-2,0.5,x,small,job7\n,b,1,0,1.5,,,,,,,,,job8\n"
	_, err := ReadCSV(strings.NewReader(text), "x", Options{})
	wantError(t, err, `x:3: column map_input_bytes: "", expected a whole number from 0`)
	w, err := ReadCSV(strings.NewReader(strings.Replace(text, "1.5,,,", "1.5,0,0,", 1)), "dir/x.csv", Options{})
	must.Do(t, err)
	a, b := w.Jobs[0], w.Jobs[1]
	if w.Name != "x.csv" || a.ID != "a" || a.Submit != 1500 || a.Pool != "p" || a.User != "ann" ||
		a.Priority != -2 || a.SlowStart != 0.5 || a.Name != "x" || a.Class != "small" {
		t.Errorf("%q: job %+v", w.Name, a)
	}
	if a.Maps[0].Bytes != 3 || a.Maps[1].Bytes != 2 || a.Reduces[0].Bytes != 4 || a.Reduces[2].Bytes != 3 {
		t.Errorf("maps %v, reduces %v, want equal parts", a.Maps, a.Reduces)
	}
	if b.SlowStart != -1 || b.EffectiveSlowStart() != 0.05 || b.Name != "job8" {
		t.Errorf("defaults of job %+v", b)
	}
	if len(b.Maps) != 1 || b.Maps[0] != (Task{Millis: 2000}) {
		t.Errorf("a job without bytes has maps %v, want one of the start time", b.Maps)
	}
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          "x.csv:1: no header",
		"job,maps\n":                                `no column "arrival_s"`,
		"job,job,maps\n":                            "x.csv:1: column \"job\" is repeated, expected it once\nx.csv:1: no column \"arrival_s\", expected one\n",
		csvHead:                                     "no jobs",
		"Job,arrival_s\n":                           `column "Job", expected some of`,
		csvHead + "a,0,1,0,0\n":                     "x.csv:2: number of fields differs from the header, expected 6",
		csvHead + "a,0,1,0,0,0\n\n\"b,0,1\n":        `x.csv:4: column 8 of the text: extraneous or missing " in quoted-field, expected CSV, with fields that contain quotes in quotes`,
		csvHead + "a,0,1,0,0,0\na,1,1,0,0,0\n":      `x.csv:3: job id "a" is repeated, first at x.csv:2`,
		csvHead + "a,5,1,0,0,0\nb,4.5,1,0,0,0\n":    `x.csv:3: job "b" arrives at 4.5 s, before the previous job at 5 s`,
		csvHead + "a,NaN,1,0,0,0\n":                 `x.csv:2: column arrival_s: "NaN"`,
		csvHead + "a,-1,1,0,0,0\n":                  `x.csv:2: column arrival_s: "-1"`,
		csvHead + "a,0,0,0,0,0\n":                   `x.csv:2: column maps: "0", expected a whole number from 1`,
		csvHead + "a,0,1,-1,0,0\n":                  `x.csv:2: column reduces: "-1"`,
		csvHead + "a,0,1,0,-1,0\n":                  `x.csv:2: column map_input_bytes: "-1"`,
		csvHead + "a,0,1,0,0,1e3\n":                 `x.csv:2: column shuffle_bytes: "1e3"`,
		csvHead + "a,0,33554432,1,0,0\n":            "x.csv:2: 33554433 tasks beyond the 0 before",
		csvHead + "a,0,9223372036854775807,0,0,0":   "x.csv:2: column maps",
		csvHead + "a,0,1,0,1152921504606846976,0":   "x.csv:2: job 1 (\"a\"): map 0 takes",
		csvHead + ",0,1,0,0,0\n":                    `x.csv:2: job 1 (""): no id`,
		"weight," + csvHead + "NaN,a,0,1,0,0,0\n":   `x.csv:2: column weight: "NaN"`,
		"weight," + csvHead + "1e308,a,0,1,0,0,0\n": `x.csv:2: column weight: "1e308", expected a number from 1e-09 to 1e+09`,
		"weight," + csvHead + "0,a,0,1,0,0,0\n":     `x.csv:2: column weight: "0", expected a number from 1e-09 to 1e+09`,
		"weight," + csvHead + "-1,a,0,1,0,0,0\n":    `x.csv:2: column weight: "-1"`,
		"priority," + csvHead + "3,a,0,1,0,0,0\n":   `x.csv:2: column priority: "3"`,
	} {
		_, err := ReadCSV(strings.NewReader(text), "x.csv", Options{})
		wantError(t, err, want)
	}
	_, err := ReadCSV(strings.NewReader(csvHead+"a,x,y,0,0,0\nb,0,1,0,0,z\n"), "x.csv", Options{})
	wantError(t, err, "x.csv:2: column arrival_s", "x.csv:2: column maps", "x.csv:3: column shuffle_bytes")
}

func TestDirectoryOfHistories(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "2026-11-23"), 0o700))
	for name, text := range map[string]string{"2026-11-23/index-job_1_0001-7.jsonl": "no history", "2026-11-23/b.jsonl": history1, "a.json": report1, "c.txt": "no history"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	w := mustRead(t, dir, Options{})
	if len(w.Jobs) != 2 || w.Jobs[0].ID != "job_1_0001" || w.Jobs[1].ID != "job_1_0002" || w.Jobs[1].Submit != 4000 {
		t.Errorf("jobs %+v, want the report's 4 s after the history's", w.Jobs)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "d.jsonl"), []byte(history1), 0o600))
	_, err := ReadFile(dir, Options{})
	wantError(t, err, "d.jsonl:1:", `job id "job_1_0001" is repeated, first at`, "b.jsonl:1")
}
