package allocation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func environment(values map[string]string) Environment {
	return func(name string) string { return values[name] }
}

func TestSlurm(t *testing.T) {
	expand := func(list string) ([]string, error) {
		switch list {
		case "n[1-3]":
			return []string{"n1", "n2", "n3"}, nil
		case "n1":
			return []string{"n1"}, nil
		}
		return nil, errors.New("scontrol: invalid hostlist")
	}
	for name, c := range map[string]struct {
		env  map[string]string
		want *Allocation
		err  string
	}{
		"three nodes": {
			env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "8(x2),4", "SLURM_MEM_PER_NODE": "4000", "SLURM_JOB_END_TIME": "1000"},
			want: &Allocation{Scheduler: "Slurm", Job: "7", End: time.Unix(1000, 0),
				Nodes: []Node{{"n1", 8, 4000}, {"n2", 8, 4000}, {"n3", 4, 4000}}},
		},
		"memory by core": {
			env:  map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "1,2(x2)", "SLURM_MEM_PER_CPU": "1000"},
			want: &Allocation{Scheduler: "Slurm", Job: "7", Nodes: []Node{{"n1", 1, 1000}, {"n2", 2, 2000}, {"n3", 2, 2000}}},
		},
		"processors of this node only": {
			env:  map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_CPUS_ON_NODE": "16"},
			want: &Allocation{Scheduler: "Slurm", Job: "7", Nodes: []Node{{"n1", 16, 0}}},
		},
		"no job":       {env: nil, err: "SLURM_JOB_NODELIST is not set: this is not a job of Slurm; run the command in a job script"},
		"bad list":     {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n["}, err: "nodes of job 7: scontrol: invalid hostlist"},
		"few counts":   {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_CPUS_PER_NODE": "8(x2)"}, err: "SLURM_JOB_CPUS_PER_NODE=8(x2): expected a list"},
		"many counts":  {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "8(x2000000000)"}, err: "for 1 nodes"},
		"wrong counts": {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_CPUS_PER_NODE": "all"}, err: "SLURM_JOB_CPUS_PER_NODE=all"},
		"wrong memory": {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_MEM_PER_NODE": "4G"}, err: "SLURM_MEM_PER_NODE=4G: expected a number of MiB"},
		"wrong end":    {env: map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_JOB_END_TIME": "noon"}, err: "SLURM_JOB_END_TIME=noon"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Slurm(environment(c.env), expand)
			check(t, got, err, c.want, c.err)
		})
	}
}

func TestOAR(t *testing.T) {
	now := time.Unix(1000, 0)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	nodes := write("nodes", "b\nb\na\na\na\nb\n")
	for name, c := range map[string]struct {
		env  map[string]string
		want *Allocation
		err  string
	}{
		"two nodes": {
			env:  map[string]string{"OAR_JOB_ID": "9", "OAR_NODEFILE": nodes, "OAR_JOB_WALLTIME_SECONDS": "600"},
			want: &Allocation{Scheduler: "OAR", Job: "9", End: time.Unix(1600, 0), Nodes: []Node{{"b", 3, 0}, {"a", 3, 0}}},
		},
		"older names": {
			env:  map[string]string{"OAR_JOBID": "9", "OAR_FILE_NODES": nodes},
			want: &Allocation{Scheduler: "OAR", Job: "9", Nodes: []Node{{"b", 3, 0}, {"a", 3, 0}}},
		},
		"no job":         {env: map[string]string{"OAR_NODEFILE": nodes}, err: "OAR_NODEFILE is not set: this is not a job of OAR"},
		"no file":        {env: map[string]string{"OAR_JOB_ID": "9", "OAR_NODEFILE": filepath.Join(dir, "none")}, err: "nodes of job 9: open "},
		"empty":          {env: map[string]string{"OAR_JOB_ID": "9", "OAR_NODEFILE": write("empty", "\n")}, err: "OAR names no node in job 9"},
		"wrong walltime": {env: map[string]string{"OAR_JOB_ID": "9", "OAR_NODEFILE": nodes, "OAR_JOB_WALLTIME_SECONDS": "1:00"}, err: "OAR_JOB_WALLTIME_SECONDS=1:00"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := OAR(environment(c.env), os.ReadFile, now)
			check(t, got, err, c.want, c.err)
		})
	}
}

func check(t *testing.T, got *Allocation, err error, want *Allocation, wantErr string) {
	t.Helper()
	if wantErr != "" {
		if err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("error %v, want %q", err, wantErr)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestParseTimeLeft(t *testing.T) {
	for text, want := range map[string]string{
		"1:30\n": "1m30s true <nil>", "59": "59s true <nil>", "2:00:00": "2h0m0s true <nil>", "1-00:00:01": "24h0m1s true <nil>",
		"UNLIMITED": "0s false <nil>", "INVALID": "0s false <nil>", "": "0s false <nil>",
		"1:2:3:4": `0s false time left "1:2:3:4": expected [DAYS-][[HOURS:]MINUTES:]SECONDS`,
		"soon":    `0s false time left "soon": expected [DAYS-][[HOURS:]MINUTES:]SECONDS`,
	} {
		left, known, err := ParseTimeLeft(text)
		if got := fmt.Sprint(left, " ", known, " ", err); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
