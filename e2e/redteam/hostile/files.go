package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
)

// looksAround tries to read what belongs to the daemon and to other users, and fails with a
// line for each try.
func looksAround(t *task) error {
	parent := "/proc/" + strconv.Itoa(os.Getppid())
	lines := []string{
		fmt.Sprintf("uid %d gid %d", os.Getuid(), os.Getgid()),
		fmt.Sprintf("secret variable: %q", os.Getenv("REDTEAM_SECRET")),
		fmt.Sprintf("kill of the daemon: %v", syscall.Kill(os.Getppid(), syscall.SIGKILL)),
	}
	for what, name := range map[string]string{
		"token": t.property("token"), "daemon's environment": parent + "/environ", "daemon's memory": parent + "/mem",
		"root's file": t.property("secret"), "other job": t.property("other"),
	} {
		lines = append(lines, fmt.Sprintf("%s: %v", what, read(name)))
	}
	for what, name := range map[string]string{
		"program cache": filepath.Join(t.property("dir"), "artifacts", "new"), "own job": filepath.Join(taskdir.JobDir(t.LocalDir), "new"),
		"own shard": filepath.Join(filepath.Dir(t.LocalDir), "new"), "own record": t.LocalDir + ".retained", "daemon's directory": filepath.Join(t.property("dir"), "new"),
	} {
		lines = append(lines, fmt.Sprintf("write to %s: %v", what, os.WriteFile(name, nil, 0o600)))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// read reads a byte of a file, or lists a directory.
func read(name string) error {
	if _, err := os.ReadDir(name); err == nil || errors.Is(err, os.ErrPermission) {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Read(make([]byte, 1))
	return err
}

// Size of a tree. The test has a directory with files of these names.
const (
	treeDirs  = 40
	treeFiles = 50
)

// makesTree makes many directories with files in the local directory, names the directory in
// a file, and fails when the test says so. Then the daemon removes the tree.
func makesTree(t *task) error {
	for d := range treeDirs {
		dir := filepath.Join(t.LocalDir, "sub"+strconv.Itoa(d))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for f := range treeFiles {
			if err := os.WriteFile(filepath.Join(dir, "f"+strconv.Itoa(f)), nil, 0o644); err != nil {
				return err
			}
		}
	}
	if err := replaceFile(t.property("scratch")+"/tree", t.LocalDir); err != nil {
		return err
	}
	if err := awaitFile(t.property("scratch") + "/swapping"); err != nil {
		return err
	}
	return errors.New("the tree is complete")
}

// swapsDirectories replaces directories of another job of the same user by links, while the
// daemon removes them.
func swapsDirectories(t *task) error {
	file := t.property("scratch") + "/tree"
	if err := awaitFile(file); err != nil {
		return err
	}
	tree, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := replaceFile(t.property("scratch")+"/swapping", "yes"); err != nil {
		return err
	}
	swaps := 0
	for began := time.Now(); time.Since(began) < 20*time.Second; {
		if _, err := os.Lstat(string(tree)); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the tree is removed after %d swaps", swaps)
		}
		for d := range treeDirs {
			dir := filepath.Join(string(tree), "sub"+strconv.Itoa(d))
			if os.Rename(dir, dir+".old") == nil && os.Symlink(t.property("victim"), dir) == nil {
				swaps++
				_ = os.Remove(dir) // the daemon may have removed the link
				_ = os.Rename(dir+".old", dir)
			}
		}
	}
	return fmt.Errorf("the tree is not removed after %d swaps", swaps)
}

// replaceFile writes a file that another task waits for. It appears with its content.
func replaceFile(name, text string) error {
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// awaitFile waits until a file exists.
func awaitFile(name string) error {
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("no file %s in a minute", name)
}

// startsDaemon starts a process in a session of its own, which should outlive the task.
func startsDaemon(t *task) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{sleeperVariable + "=yes"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return fmt.Errorf("process %d left", cmd.Process.Pid)
}
