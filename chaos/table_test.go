package chaos_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/testing/must"
)

// drilled returns a verdict of a plan with two faults, of which one was injected.
func drilled(good bool) (*chaos.Plan, *chaos.Verdict) {
	p := chaos.NewPlan()
	p.Faults = []chaos.Fault{{Kind: chaos.Kill}, {Kind: chaos.Stop}}
	v := &chaos.Verdict{
		Seed: 7, WorkLost: 30, Elapsed: 900, Reached: chaos.Reached{chaos.Election: 1, chaos.LostAttempt: 2},
		Faults: []chaos.FaultResult{{Injected: true, Recovery: 120}, {Reason: "its trigger never fired"}},
		Jobs:   []chaos.JobResult{{Bytes: 10, ExtraAttempts: 1}, {Bytes: 5, ExtraAttempts: 2}},
	}
	if !good {
		v.Jobs[1].Lost = 1
	}
	v.Sum()
	return p, v
}

func TestTableGrows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drills.csv")
	var want []chaos.Row
	for _, good := range []bool{true, false, true} {
		row := chaos.RowOf(drilled(good))
		want = append(want, row)
		must.Do(t, row.Append(file))
	}
	f, err := os.Open(file)
	must.Do(t, err)
	defer f.Close()
	rows, err := chaos.ReadTable(f, file)
	if err != nil || !reflect.DeepEqual(rows, want) {
		t.Errorf("%v\ngot  %v\nwant %v", err, rows, want)
	}
	if got, want := chaos.Sum(rows).String(), "3 drills, 1 bad: 3 faults, 6 jobs, 45 bytes compared, 1 lost, 9 attempts again, 90 ms of work lost, recovery within 120 ms"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestForeignTables checks that Append refuses a file with other columns.
func TestForeignTables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drills.csv")
	must.Do(t, os.WriteFile(file, []byte("a,b\n1,2\n"), 0o644))
	err := chaos.RowOf(drilled(true)).Append(file)
	text, _ := os.ReadFile(file)
	if err == nil || !strings.Contains(err.Error(), "is not a table of drills") || string(text) != "a,b\n1,2\n" {
		t.Errorf("%v; the file is now %q", err, text)
	}
}

func TestVerdictIsReadBack(t *testing.T) {
	_, v := drilled(false)
	text, err := v.JSON()
	must.Do(t, err)
	got, err := chaos.ParseVerdict(text)
	if err != nil || !reflect.DeepEqual(got, v) || got.Good || got.Lost != 1 || got.Recovery != 120 {
		t.Errorf("%v: %+v", err, got)
	}
	for _, text := range []string{"", "{", `{"version":9}`} {
		if _, err := chaos.ParseVerdict([]byte(text)); err == nil {
			t.Errorf("%q is taken for a verdict", text)
		}
	}
}

// FuzzReadTable checks that no table makes ReadTable panic, and that its rows can be added
// up.
func FuzzReadTable(f *testing.F) {
	f.Add("seed,faults,planned,kinds,jobs,bytes,lost,attempts_again,work_lost_ms,recovery_ms,elapsed_ms,verdict,reached\n1,1,2,kill,1,10,0,0,0,5,9,good,election=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := chaos.ReadTable(strings.NewReader(text), "t")
		if err == nil && chaos.Sum(rows).Drills != len(rows) {
			t.Errorf("%d rows are %d drills", len(rows), chaos.Sum(rows).Drills)
		}
	})
}
