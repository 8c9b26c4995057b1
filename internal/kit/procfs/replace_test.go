package procfs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// replacedEnv makes the test binary a process that starts a child and replaces its program this
// often.
const replacedEnv = "PROCFS_TEST_REPLACED"

func init() {
	if os.Getenv(replacedEnv) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if text := os.Getenv(replacedEnv); text != "" {
		left, err := strconv.Atoi(text)
		if err == nil {
			err = startAndReplace(left)
		}
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// startAndReplace starts a child, prints its id, and replaces the program until left is 0. Then
// it waits for the end of its input.
func startAndReplace(left int) (err error) {
	ServeMainThread(func(s *Starter) int {
		child := exec.Command("sleep", "1000")
		child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err = s.Start(child.Start); err != nil {
			return 1
		}
		fmt.Println("child", child.Process.Pid)
		if left > 0 {
			if err = os.Setenv(replacedEnv, strconv.Itoa(left-1)); err == nil {
				err = s.Replace("/proc/self/exe", os.Args, os.Environ(), new(Kept))
			}
			return 1
		}
		fmt.Println("ready", os.Getpid())
		select {}
	})
	return err
}

// TestChildrenSurviveReplace replaces the program of a process three times. The children of all
// four programs live on, and end when the process is killed.
func TestChildrenSurviveReplace(t *testing.T) {
	self, err := os.Executable()
	must.Do(t, err)
	p := exec.Command(self)
	p.Env, p.Stderr = append(os.Environ(), replacedEnv+"=3"), os.Stderr
	out, err := p.StdoutPipe()
	must.Do(t, err)
	must.Do(t, p.Start())
	defer p.Wait()
	defer p.Process.Kill()
	var children []int
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "ready") {
		pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "child "))
		if err != nil {
			t.Fatal(lines.Text())
		}
		children = append(children, pid)
	}
	if want := fmt.Sprint("ready ", p.Process.Pid); lines.Text() != want {
		t.Fatalf("last line %q, want %q", lines.Text(), want)
	}
	if len(children) != 4 {
		t.Errorf("children %v", children)
	}
	for _, pid := range children {
		if StartTime(pid) == "" {
			t.Errorf("child %d has ended", pid)
		}
	}
	must.Do(t, p.Process.Kill())
	_ = p.Wait() // it was killed
	for _, pid := range children {
		if err := awaitEnd(t.Context(), func() bool { return StartTime(pid) != "" }, time.Minute); err != nil {
			t.Errorf("child %d lives on: %v", pid, err)
		}
	}
}

// TestFailedReplace replaces the program by a file that does not exist. The process continues, and
// its children inherit no descriptor.
func TestFailedReplace(t *testing.T) {
	s := NewStarter()
	defer s.Close()
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	defer w.Close()
	var kept Kept
	fd, err := kept.Add(r)
	must.Do(t, err)
	if err := s.Replace("/no/such/program", []string{"x"}, nil, &kept); err == nil || !strings.Contains(err.Error(), "start of /no/such/program") {
		t.Errorf("error %v", err)
	}
	if out, err := exec.Command("ls", "-l", fmt.Sprintf("/proc/self/fd/%d", fd)).CombinedOutput(); err == nil {
		t.Errorf("a child has the descriptor: %s", out)
	}
}
