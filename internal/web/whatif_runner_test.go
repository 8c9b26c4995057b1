package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/internal/web/browsertest"
)

// simulationVariable makes the test binary a simulation, or a server of one.
const simulationVariable = "HAMMR_TEST_SIMULATION"

func init() {
	what, file, _ := strings.Cut(os.Getenv(simulationVariable), " ")
	switch what {
	case "":
		return
	case "server": // starts a simulation that sleeps, and says so
		os.Setenv(simulationVariable, "sleep "+file)
		if _, err := NewWhatIfRunner(WhatIfConfig{History: "/history"}).StartWhatIf(context.Background(), WhatIfQuery{}); err != nil {
			panic(err)
		}
		select {}
	case "sleep": // writes its id into the file
		_ = os.WriteFile(file+".tmp", []byte(strconv.Itoa(os.Getpid())), 0o600)
		_ = os.Rename(file+".tmp", file)
		<-time.After(time.Hour)
	case "memory":
		var all [][]byte
		for range 4096 {
			all = append(all, slices.Repeat([]byte{1}, 1<<20))
		}
		fmt.Println(len(all))
	case "large":
		for {
			fmt.Println(strings.Repeat("x", 1<<16))
		}
	case "wrong":
		fmt.Fprintln(os.Stderr, "hammr: warning\nhammr: no job is selected")
		os.Exit(2)
	case "nice": // as the note of its result
		priority, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		fmt.Printf(`{"notes":["%d"],"history":%q}`, 20-priority, fmt.Sprint(os.Args[1:]))
	}
	os.Exit(0)
}

// newSimulation starts the test binary as a simulation.
func newSimulation(t *testing.T, what string, cfg WhatIfConfig) (*WhatIfRunner, apidoc.WhatIfRun) {
	t.Helper()
	t.Setenv(simulationVariable, what)
	cfg.History = "/history"
	r := NewWhatIfRunner(cfg)
	t.Cleanup(func() { _ = r.Close() })
	run, err := r.StartWhatIf(t.Context(), WhatIfQuery{User: "ann", Params: map[string]string{"policy": "fair,hfsp", "nodes": "7", "pool": "a b"}, Settings: map[string]string{"fair:x": "1"}})
	if err != nil || run.State != apidoc.WhatIfRunning {
		t.Fatalf("%+v, %v", run, err)
	}
	return r, run
}

// ended returns a simulation that has ended.
func ended(t *testing.T, r *WhatIfRunner, id string) apidoc.WhatIfRun {
	t.Helper()
	for range time.Tick(5 * time.Millisecond) {
		a, err := r.WhatIf(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if a.Value.State != apidoc.WhatIfRunning {
			return a.Value
		}
	}
	return apidoc.WhatIfRun{}
}

// sleeper returns the id of the process of a simulation that sleeps.
func sleeper(t *testing.T, file string) int {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for now := range time.Tick(5 * time.Millisecond) {
		if now.After(deadline) {
			break
		}
		if text, err := os.ReadFile(file); err == nil {
			pid, err := strconv.Atoi(string(text))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("the simulation has not started")
	return 0
}

// wantGone waits for the end of a process. One whose exit status was not read is a zombie.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for now := range time.Tick(5 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if now.After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

func TestWhatIfProcess(t *testing.T) {
	r, run := newSimulation(t, "nice", WhatIfConfig{})
	got := ended(t, r, run.ID)
	args := "[sim whatif --history /history --pool a b --policy fair,hfsp --nodes 7 --conf fair:x=1 --json --quiet --max-jobs=10000]"
	if got.State != apidoc.WhatIfDone || got.Result.Notes[0] != "19" || got.Result.History != args {
		t.Errorf("%+v with the result %+v, want priority 19 and %s", got, got.Result, args)
	}
	if want := "hammr sim whatif --history /history --pool 'a b' --policy fair,hfsp --nodes 7 --conf 'fair:x=1'"; got.Command != want {
		t.Errorf("command %s, want %s", got.Command, want)
	}
	for range maxWhatIfs {
		other, err := r.StartWhatIf(t.Context(), WhatIfQuery{})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, r, other.ID)
	}
	if _, err := r.WhatIf(t.Context(), run.ID); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "hammr sim whatif") {
		t.Errorf("a simulation that was dropped: %v", err)
	}
	if list, err := r.WhatIfs(t.Context()); err != nil || len(list.Value) != maxWhatIfs || list.Value[0].Result != nil {
		t.Errorf("%d simulations, %v", len(list.Value), err)
	}
	if _, err := r.CancelWhatIf(t.Context(), r.kept.all()[0].ID, "bob"); !errors.Is(err, ErrRefused) {
		t.Errorf("cancel after the end: %v", err)
	}
}

// TestWhatIfLimits runs simulations that exceed a limit, or fail.
func TestWhatIfLimits(t *testing.T) {
	file := t.TempDir() + "/pid"
	for _, c := range []struct {
		what, want string
		cfg        WhatIfConfig
	}{
		{"sleep " + file, "not done after 300ms", WhatIfConfig{Time: 300 * time.Millisecond}},
		{"memory", "more than 256 MiB of memory", WhatIfConfig{Memory: 256 << 20}},
		{"large", "larger than 16 MiB", WhatIfConfig{}},
		{"wrong", "no job is selected", WhatIfConfig{}},
		{"silent", "output of the simulation", WhatIfConfig{}},
		{"sleep x", "no such file", WhatIfConfig{Program: []string{"/none"}}},
	} {
		if browsertest.RaceEnabled && c.cfg.Memory > 0 {
			continue // the race detector needs more memory than the limit
		}
		r, run := newSimulation(t, c.what, c.cfg)
		if got := ended(t, r, run.ID); got.State != apidoc.WhatIfFailed || !strings.Contains(got.Problem, c.want) || got.Result != nil {
			t.Errorf("%s: %+v, want %q", c.what, got, c.want)
		}
	}
}

func TestOneWhatIfAtATime(t *testing.T) {
	file := t.TempDir() + "/pid"
	r, run := newSimulation(t, "sleep "+file, WhatIfConfig{})
	pid := sleeper(t, file)
	_, err := r.StartWhatIf(t.Context(), WhatIfQuery{User: "bob"})
	refusal, ok := errors.AsType[*access.Refusal](err)
	if !ok || refusal.Status != http.StatusTooManyRequests || refusal.RetryAfter <= 0 || !strings.HasPrefix(refusal.Text, "ann has run a what-if simulation for ") {
		t.Errorf("a second one: %v", err)
	}
	got, err := r.CancelWhatIf(t.Context(), run.ID, "bob")
	if err != nil || got.State != apidoc.WhatIfCancelled || got.Problem != "bob has cancelled it" {
		t.Errorf("%+v, %v", got, err)
	}
	wantGone(t, pid)
}

// TestWhatIfEndsWithTheServer closes the runner, and then kills a process that has one.
func TestWhatIfEndsWithTheServer(t *testing.T) {
	file := t.TempDir() + "/pid"
	r, _ := newSimulation(t, "sleep "+file, WhatIfConfig{})
	pid := sleeper(t, file)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	wantGone(t, pid)
	if _, err := r.StartWhatIf(t.Context(), WhatIfQuery{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("after the end: %v", err)
	}

	file += "2"
	server := exec.CommandContext(t.Context(), "/proc/self/exe")
	server.Env = append(os.Environ(), simulationVariable+"=server "+file)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	pid = sleeper(t, file)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed
	wantGone(t, pid)
}
