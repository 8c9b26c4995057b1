package minihdfs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/jsonfile"
	"github.com/hammr/hammr/internal/testing/must"
)

// startSleep starts a process that stands for a daemon of a cluster. It is waited for as soon as it ends.
func startSleep(t *testing.T) Process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	must.Do(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // a signal ends it
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
	})
	return processOf(cmd.Process.Pid, "")
}

// TestDownEndsRecordedProcesses ends a cluster whose supervisor ends without its children, and one of whose
// processes has ended: another process has its id.
func TestDownEndsRecordedProcesses(t *testing.T) {
	dir := t.TempDir()
	supervisor, nameNode, other := startSleep(t), startSleep(t), startSleep(t)
	state := State{Supervisor: supervisor, NameNode: nameNode, DataNodes: []Process{{PID: other.PID, Started: "0"}}}
	must.Do(t, jsonfile.Write(statePath(dir), state, 0o600))
	t.Setenv(JarsEnv, t.TempDir())
	again, err := Up(t.Context(), Config{Dir: dir, Supervisor: []string{"false"}})
	if err != nil || again.Supervisor != supervisor {
		t.Errorf("Up of a cluster that runs: %+v, %v", again, err)
	}
	for range 2 {
		must.Do(t, Down(t.Context(), dir))
	}
	if supervisor.alive() || nameNode.alive() || !other.alive() {
		t.Errorf("after Down: supervisor %v, NameNode %v, a process with the id of a DataNode %v", supervisor.alive(), nameNode.alive(), other.alive())
	}
	if _, err := os.Stat(statePath(dir)); err == nil {
		t.Error("the state is left")
	}
}

// TestUpQuotesItsSupervisor starts a supervisor that fails, and one that writes the state.
func TestUpQuotesItsSupervisor(t *testing.T) {
	t.Setenv(JarsEnv, t.TempDir())
	dir := filepath.Join(t.TempDir(), "hdfs")
	_, err := Up(t.Context(), Config{Dir: dir, Supervisor: []string{"sh", "-c", "echo no memory; exit 1", "sh"}})
	if err == nil || !strings.Contains(err.Error(), "no memory") {
		t.Errorf("a supervisor that fails: %v", err)
	}
	// It makes a complete file, as jsonfile does.
	state, err := Up(t.Context(), Config{Dir: dir, DataNodes: 2, Supervisor: []string{"sh", "-c", `umask 077; test -s "$1/config.json" && echo '{"uri": "hdfs://nn"}' >"$1/new" && mv "$1/new" "$1/hdfs.json"`, "sh"}})
	if err != nil || state.URI != "hdfs://nn" {
		t.Errorf("%+v, %v", state, err)
	}
	var cfg Config
	if err := jsonfile.ReadOwn(filepath.Join(dir, "config.json"), &cfg); err != nil || cfg.DataNodes != 2 {
		t.Errorf("configuration for the supervisor: %+v, %v", cfg, err)
	}
}
