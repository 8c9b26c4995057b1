package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"
)

// daemonEnv makes the test binary a daemon that runs one task. The variable contains the
// Start of the task.
const daemonEnv = "PROCESS_TEST_DAEMON"

// daemon launches a task, prints its pid, and waits to be killed.
func daemon(text string) {
	start := new(taskproc.Start)
	err := protojson.Unmarshal([]byte(text), start)
	var l *Launcher
	if err == nil {
		l, err = New(Config{Programs: fakePrograms{}})
	}
	if err == nil {
		_, err = l.Launch(context.Background(), start)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for c := range l.mu.children {
		fmt.Println(c.pid)
	}
	<-make(chan int)
}

func TestTasksDieWithTheDaemon(t *testing.T) {
	text, err := protojson.Marshal(startMessage(t, "deaf"))
	must.Do(t, err)
	self, err := os.Executable()
	must.Do(t, err)
	d := exec.Command(self)
	d.Env, d.Stderr = append(os.Environ(), daemonEnv+"="+string(text)), os.Stderr
	out, err := d.StdoutPipe()
	must.Do(t, err)
	must.Do(t, d.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Error(err)
	}
	handle, openErr := unix.PidfdOpen(pid, 0)
	if err := d.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = d.Wait() // it was killed
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer unix.Close(handle)
	fds := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, 60_000); n != 1 || err != nil {
		t.Errorf("the task still runs: %d, %v", n, err)
	}
}
