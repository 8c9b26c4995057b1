//go:build deploy

package systemdtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// stageVariable says what a process of this program does: "" is TestMain's first part.
const (
	stageVariable = "SYSTEMDTEST_STAGE"
	stageTests    = "tests"
	stageBoot     = "boot"
)

// workVariable names the directory of all files of the test; everything in it is removed.
const workVariable = "SYSTEMDTEST_WORK"

// packagesVariable names a directory with packages of an earlier run. The test then builds none.
const packagesVariable = "SYSTEMDTEST_PACKAGES"

// Versions of the packages.
const (
	oldVersion = "0.9.0"
	newVersion = "0.9.1"
)

// tools are the programs that the test needs, and the packages of Debian that have them.
var tools = map[string]string{
	"mmdebstrap": "mmdebstrap", "lintian": "lintian", "rpm": "rpm", "ip": "iproute2", "nsenter": "util-linux", "dpkg-deb": "dpkg",
	"java": "default-jre-headless", "mvn": "maven",
}

// init keeps the main goroutine on the main thread: children get SIGKILL when the thread that
// started them ends, and boot changes namespaces of its thread.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	switch os.Getenv(stageVariable) {
	case stageBoot:
		fail(boot())
	case stageTests:
		if err := enterNamespaces(os.Getenv(workVariable)); err != nil {
			fail(err)
		}
		os.Exit(m.Run())
	}
	code, err := outside()
	if err != nil {
		fail(err)
	}
	os.Exit(code)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "systemdtest:", err)
	os.Exit(1)
}

// outside prepares what needs the network of this machine, and runs the tests in namespaces. It
// returns their exit code.
func outside() (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := errors.Join(checkTools(), removeGroups()); err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "hammr-systemd-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.Chmod(work, 0o755); err != nil { // users of the machines read the packages
		return 0, err
	}
	if _, err := minihdfs.Jars(ctx); err != nil {
		return 0, err
	}
	if err := makeTree(ctx); err != nil {
		return 0, err
	}
	if err := buildPackages(ctx, work); err != nil {
		return 0, err
	}
	return runTests(ctx, work)
}

// buildPackages builds the old version twice, and the new one.
func buildPackages(ctx context.Context, work string) error {
	if os.Getenv(packagesVariable) != "" {
		return nil
	}
	for dir, version := range map[string]string{"old": oldVersion, "again": oldVersion, "new": newVersion} {
		build := exec.CommandContext(ctx, "../packages/build.sh", version, filepath.Join(work, dir))
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("packages of version %s: %w\n%s", version, err, out)
		}
	}
	return os.Setenv(packagesVariable, work)
}

func checkTools() error {
	if os.Getuid() != 0 {
		return errors.New("only root boots machines: run the test as root")
	}
	var errs []error
	for tool, pkg := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			errs = append(errs, fmt.Errorf("%s is missing: apt-get install %s", tool, pkg))
		}
	}
	return errors.Join(errs...)
}

// runTests runs this program again, with the same flags, in new namespaces. All processes that it
// starts end with it.
func runTests(ctx context.Context, work string) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), stageVariable+"="+stageTests, workVariable+"="+work)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	err = cmd.Run()
	err = errors.Join(err, removeGroups())
	var ended *exec.ExitError
	if errors.As(err, &ended) && ctx.Err() == nil {
		return max(1, ended.ExitCode()), nil // it has printed the cause
	}
	return 0, err
}

// enterNamespaces prepares the namespaces in which the tests run: /proc shows the processes in them,
// and /run has the names of networks.
func enterNamespaces(work string) error {
	machines := filepath.Join(work, "machines")
	if err := os.MkdirAll(machines, 0o755); err != nil {
		return err
	}
	for _, m := range []mount{
		{"none", "/", "", unix.MS_REC | unix.MS_PRIVATE, ""},
		{"proc", "/proc", "proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC, ""},
		{"tmpfs", "/run", "tmpfs", 0, "mode=755"},
		{"tmpfs", machines, "tmpfs", 0, "mode=755"},
	} {
		if err := m.mount(); err != nil {
			return err
		}
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("loopback device: %w: %s", err, out)
	}
	return nil
}

// treePackages are the packages of a machine in addition to the essential ones. rpm installs the
// other package there, and `hammr cluster` comes by ssh.
var treePackages = []string{"systemd", "systemd-sysv", "dbus", "rpm", "openssh-server"}

// makeTree makes the files of a Debian machine, once.
func makeTree(ctx context.Context) error {
	tree, err := treeDir()
	if err != nil {
		return err
	}
	if _, err := os.Stat(tree); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(tree), 0o755); err != nil {
		return err
	}
	incomplete := tree + ".new"
	if err := os.RemoveAll(incomplete); err != nil {
		return err
	}
	fmt.Println("making the tree of Debian in", tree)
	debian := exec.CommandContext(ctx, "mmdebstrap", "--quiet", "--variant=minbase", "--include="+strings.Join(treePackages, ","), "bookworm", incomplete)
	if out, err := debian.CombinedOutput(); err != nil {
		return fmt.Errorf("mmdebstrap: %w\n%s", err, out)
	}
	return os.Rename(incomplete, tree)
}

// treeDir is in the user's cache directory. Another list of packages has another name.
func treeDir() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "hammr", "bookworm-"+strings.Join(treePackages, "-")), err
}
