package process

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// machineOffset is where an ELF header has the architecture.
const machineOffset = 18

// foreign is a copy of this program that claims another architecture.
func foreign(t *testing.T) []byte {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	program, err := os.ReadFile(self)
	must.Do(t, err)
	machine := uint16(183) // arm64
	if runtime.GOARCH == "arm64" {
		machine = 62 // amd64
	}
	binary.LittleEndian.PutUint16(program[machineOffset:], machine)
	return program
}

func TestProgramThatThisMachineCannotRun(t *testing.T) {
	other := "linux/arm64"
	if runtime.GOARCH == "arm64" {
		other = "linux/amd64"
	}
	for name, c := range map[string]struct {
		content []byte
		mode    os.FileMode
		want    string
	}{
		"foreign": {foreign(t), 0o755, "built for " + other + ", and this machine is " + platform},
		"mac":     {[]byte("\xcf\xfa\xed\xfe and so on"), 0o755, "built for darwin, and"},
		"windows": {[]byte("MZ and so on"), 0o755, "built for windows, and"},
		"text":    {[]byte("hello"), 0o755, "not a program for " + platform},
		"empty":   {nil, 0o755, "not a program for " + platform},
		"locked":  {foreign(t), 0o644, "may not be run"},
		"script":  {[]byte("#!/no/such/shell\n"), 0o755, "no such file"},
		"absent":  {nil, 0, "no such file"},
	} {
		path := filepath.Join(t.TempDir(), "program")
		if c.mode != 0 {
			must.Do(t, os.WriteFile(path, c.content, c.mode))
		}
		start := startMessage(t, "")
		start.Binary = "hdfs://nn/stage/" + name
		_, err := newLauncher(t, Config{Programs: fakePrograms{start.Binary: path}}).Launch(t.Context(), start)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "program "+start.Binary) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(start.LocalDir + ".tmp"); !os.IsNotExist(err) {
			t.Errorf("%s: directory for temporary files: %v", name, err)
		}
	}
}

func TestProgramOpenForWritingIsWaitedFor(t *testing.T) {
	self, err := os.Executable()
	must.Do(t, err)
	content, err := os.ReadFile(self)
	must.Do(t, err)
	path := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(path, content, 0o755))
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	must.Do(t, err)
	closed := time.AfterFunc(busyTimeout/20, func() { writer.Close() })
	defer closed.Stop()
	start := startMessage(t, "")
	r := launch(t.Context(), t, newLauncher(t, Config{Programs: fakePrograms{start.Binary: path}}), start)
	if r.last().GetFinished() == nil {
		t.Error("the task did not finish")
	}
	if err := r.gone(); err != nil {
		t.Errorf("exit error %v", err)
	}
}

func TestErrorsBeforeTheStart(t *testing.T) {
	l := newLauncher(t, Config{})
	start := startMessage(t, "")
	start.LocalDir = "here"
	if _, err := l.Launch(t.Context(), start); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("error %v", err)
	}
	start = startMessage(t, "")
	start.Properties["mapreduce.map.memory.mb"] = "much"
	if _, err := l.Launch(t.Context(), start); err == nil || !strings.Contains(err.Error(), "mapreduce.map.memory.mb=much") {
		t.Errorf("error %v", err)
	}
	if _, err := New(Config{LogBytes: 1}); err == nil || strings.Count(err.Error(), "process: ") != 2 {
		t.Errorf("error %v", err)
	}
}
