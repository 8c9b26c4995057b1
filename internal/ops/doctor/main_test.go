package doctor

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/conf/fsconf"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// childVariable names the test that a child process runs.
const childVariable = "DOCTOR_TEST_CHILD"

// isChild reports whether this process is the child of the test, in which the machine may be broken.
func isChild(t *testing.T) bool { return os.Getenv(childVariable) == t.Name() }

// runChild runs the test in a child process, whose failure fails the test. prepare changes its command.
func runChild(t *testing.T, prepare func(cmd *exec.Cmd)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name())
	prepare(cmd)
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("this machine allows no such process: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) && !strings.Contains(string(out), "--- SKIP: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	if _, reason, skips := strings.Cut(string(out), "--- SKIP: "+t.Name()); skips {
		t.Skip(reason)
	}
}

// inNamespaces runs the test in a child process with namespaces of its own for mounts and the network: what it mounts
// and sets ends with it. A user who is not root is root in there.
func inNamespaces(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
}

// mount mounts a tmpfs on a directory, in the child of inNamespaces.
func mount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("mounts cannot be private: %v", err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("no tmpfs can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// newTarget returns a machine without a configuration, with the file systems of this one.
func newTarget(t *testing.T) *Target {
	t.Helper()
	target := NewTarget()
	target.Conf = conf.New()
	files, err := fsconf.NewInteractiveRouter(target.Conf, nil)
	must.Do(t, err)
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	target.Resolve = files.Resolve
	return target
}

// run runs one check. It fails the test unless the check exists.
func run(t *testing.T, target *Target, check string) []Finding {
	t.Helper()
	o := Options{Only: []string{check}}
	must.Do(t, o.Validate())
	findings := Run(t.Context(), target, o).Findings
	for _, f := range findings {
		if (f.State >= Warn) != (f.Remedy != "") {
			t.Errorf("finding %+v: a remedy belongs to what is not ok", f)
		}
	}
	return findings
}

// want is the expected state of a finding, and a part of its detail.
type want struct {
	state State
	text  string
}

// expect compares findings with what is expected, in order.
func expect(t *testing.T, got []Finding, wanted ...want) {
	t.Helper()
	if len(got) != len(wanted) {
		t.Errorf("findings %+v, want %d", got, len(wanted))
		return
	}
	for i, w := range wanted {
		if got[i].State != w.state || !strings.Contains(got[i].Detail, w.text) {
			t.Errorf("finding %v %q, want %v with %q", got[i].State, got[i].Detail, w.state, w.text)
		}
	}
}

// write writes a file, with the directories above it.
func write(t *testing.T, name, text string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// refusing returns an address of this machine at which no process listens.
func refusing(t *testing.T) string {
	t.Helper()
	l := listen(t)
	must.Do(t, l.Close())
	return l.Addr().String()
}

// listen listens on a free port as long as the test runs, and accepts nothing.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}
