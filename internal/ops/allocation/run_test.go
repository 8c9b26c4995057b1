package allocation

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestPlaceTasknodes(t *testing.T) {
	with := func(names ...string) (saved []savedTasknode) {
		for _, name := range names {
			s := savedTasknode{Name: strings.TrimSuffix(name, "-empty"), Tree: treeInfo{Files: 1}}
			if strings.HasSuffix(name, "-empty") {
				s.Tree.Files = 0
			}
			saved = append(saved, s)
		}
		return saved
	}
	for name, c := range map[string]struct {
		nodes int
		saved []savedTasknode
		want  string
	}{
		"nothing saved":         {2, nil, "n1@0/1 n2@1/1"},
		"as many":               {2, with("n1", "n2"), "n1@0/1+ n2@1/1+"},
		"more":                  {3, with("n1", "n2"), "n1@0/1+ n2@1/1+ n3@2/1"},
		"fewer":                 {2, with("n1", "n2", "n3"), "n1@0/2+ n2@1/1+ n3@0/2+"},
		"one":                   {1, with("n1", "n2", "n3"), "n1@0/3+ n2@0/3+ n3@0/3+"},
		"fewer, nothing there":  {2, with("n1", "n2", "n3-empty", "n4"), "n1@0/1+ n2@1/2+ n4@1/2+"},
		"a node has failed":     {2, with("n1", "n3"), "n1@0/2+ n2@1/1 n3@0/2+"},
		"all without any files": {1, with("n1-empty", "n2-empty"), "n1@0/1+"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range placeTasknodes(c.nodes, c.saved) {
				text := fmt.Sprintf("%s@%d/%d", p.name, p.node, p.share)
				if p.saved != nil {
					text += "+"
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

func TestCheckTime(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		left     time.Duration // 0: unknown
		notice   time.Duration
		manifest manifest
		want     time.Duration // of the notice
		note     string
		err      string
	}{
		"enough":    {left: time.Hour, notice: 2 * time.Minute, want: 2 * time.Minute},
		"unknown":   {notice: 2 * time.Minute, want: 2 * time.Minute, note: "does not say when job 7 ends: only a signal lets its jobs be saved"},
		"too short": {left: 2 * time.Minute, notice: 2 * time.Minute, err: "job 7 ends in 2m0s, which is too short: 10s to start and restore, and 2m0s to save (nothing is saved yet, so --save-before counts); ask for more time than 2m10s"},
		"measured":  {left: time.Hour, notice: 2 * time.Minute, manifest: manifest{Generation: 1, SuspendMS: 1000, CopyMS: 9000}, want: 2 * time.Minute},
		"slow": {left: time.Hour, notice: 2 * time.Minute, manifest: manifest{Generation: 1, SuspendMS: 100_000, CopyMS: 200_000}, want: 455 * time.Second,
			note: "saving begins 7m35s before the end of the allocation instead of --save-before 2m0s: the last time, suspending took 1m40s and saving 3m20s"},
		"slow and too short": {left: 10 * time.Minute, notice: 2 * time.Minute, manifest: manifest{Generation: 1, SuspendMS: 100_000, CopyMS: 200_000},
			note: "saving begins 7m35s", err: "job 7 ends in 10m0s, which is too short: 3m30s to start and restore, and 7m35s to save (the last time, suspending took 1m40s and saving 3m20s); ask for more time than 11m5s"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			a := &Allocation{Scheduler: "Slurm", Job: "7"}
			if c.left > 0 {
				a.End = now.Add(c.left)
			}
			r := &runner{cfg: Config{Allocation: a, Notice: c.notice}, manifest: &c.manifest, stderr: &sharedWriter{to: &stderr}}
			err := r.checkTime(now)
			if c.err == "" && (err != nil || r.notice != c.want) || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("notice %v, error %v; want %v and %q", r.notice, err, c.want, c.err)
			}
			if !strings.Contains(stderr.String(), c.note) || c.note == "" && stderr.Len() > 0 {
				t.Errorf("notes %q, want %q", stderr.String(), c.note)
			}
		})
	}
}

func TestSuspendTime(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct{ left, notice, copies, want time.Duration }{
		{0, 120 * time.Second, 0, 80 * time.Second},                                // the end is unknown
		{300 * time.Second, 120 * time.Second, 0, 200 * time.Second},               // an early signal
		{120 * time.Second, 120 * time.Second, 60 * time.Second, 30 * time.Second}, // copies are slow
		{10 * time.Second, 120 * time.Second, 60 * time.Second, minNotice / 2},     // too late: some time all the same
	} {
		end := time.Time{}
		if c.left > 0 {
			end = now.Add(c.left)
		}
		if got := suspendTime(now, end, c.notice, c.copies); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestMemoryOf(t *testing.T) {
	for _, c := range []struct{ given, machine, share, want int }{
		{0, 64000, 1, 0}, {0, 64000, 2, 31488}, {0, 0, 2, 0}, {2000, 64000, 1, 1500}, {16384, 64000, 2, 7680}, {1, 1, 4, 1},
	} {
		if got := memoryOf(c.given, c.machine, c.share); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	open := func() *stateDir {
		t.Helper()
		s, err := openState(t.Context(), dir)
		must.Do(t, err)
		return s
	}
	s := open()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := openState(ctx, dir); err == nil {
		t.Error("a directory is used by two allocations")
	}
	command := []string{"wordcount", "in", "out"}
	m, err := s.read(command)
	if err != nil || m.Generation != 0 || m.Cluster == "" {
		t.Fatalf("%+v, %v", m, err)
	}
	m.Generation, m.Job, m.Suspended = 2, "7", []string{"job_1_0001"}
	for _, generation := range []int{1, 2, 3} {
		must.Do(t, os.MkdirAll(filepath.Join(s.saved(generation), "n1"), 0o700))
	}
	must.Do(t, s.write(m))
	s.close()
	s = open()
	defer s.close()
	got, err := s.read(command)
	if err != nil || got.Cluster != m.Cluster || got.Generation != 2 || !slices.Equal(got.Suspended, m.Suspended) {
		t.Fatalf("%+v, %v, want %+v", got, err, m)
	}
	wantError := func(err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	_, err = s.read([]string{"wordcount", "in", "elsewhere"})
	wantError(err, "is that of another program, wordcount in out (cluster "+m.Cluster+", saved by job 7); give the same program, or another directory")
	must.Do(t, s.clean(2))
	if left, _ := filepath.Glob(dir + "/saved-*"); !slices.Equal(left, []string{s.saved(2)}) {
		t.Errorf("left: %q", left)
	}
	must.Do(t, os.WriteFile(s.manifestFile(), []byte(`{"version": 2}`), 0o600))
	_, err = s.read(command)
	wantError(err, "has version 2; this program reads version 1")
	must.Do(t, os.WriteFile(s.manifestFile(), []byte(`{"version": 1, "cluster": `), 0o600))
	_, err = s.read(command)
	wantError(err, "is damaged: ")
	must.Do(t, s.finish())
	if left, _ := filepath.Glob(dir + "/*"); !slices.Equal(left, []string{filepath.Join(dir, "lock")}) {
		t.Errorf("left: %q", left)
	}

	other := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(other, "thesis.tex"), nil, 0o600))
	_, err = openState(t.Context(), other)
	wantError(err, "has other files, such as thesis.tex; give a new directory")
}

func TestConfigNamesEveryError(t *testing.T) {
	cfg := Config{
		Allocation: &Allocation{Nodes: []Node{{Host: "a"}}}, Masters: 3, Notice: time.Second, Shared: true, LocalDir: "/scratch",
		Settings: []string{"tasknode.min-free=1g", "tasknode", "client.x=1"}, State: "/state",
	}
	cfg.EnsureDefaults()
	err := cfg.Validate()
	for _, want := range []string{
		"--masters 3: the allocation has 1 nodes", "--save-before 1s: expected at least 5s", "--local-dir and --local-in-state exclude each other",
		"--set tasknode: expected jobmaster.NAME=VALUE", `--set client.x=1: there is no daemon "client"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if cfg.Staging != "file:///state/staging" {
		t.Errorf("staging %s", cfg.Staging)
	}
}
