package localcluster_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

// listenUntilOrphaned listens on a port, prints it, and uses many threads and much memory until its
// parent has ended.
func listenUntilOrphaned() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	ready, memory := make(chan bool), make([]byte, 64<<20)
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	for range 100 {
		go func() {
			runtime.LockOSThread()
			ready <- true
			select {}
		}()
		<-ready
	}
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return int(memory[0])
}

// TestEndedDaemonsHaveNoPort kills processes that take a while to end: the first of many
// threads is often not the last, and the command line is gone before the ports are.
func TestEndedDaemonsHaveNoPort(t *testing.T) {
	dir := t.TempDir()
	for range 8 {
		c := exec.Command(os.Args[0], "port", dir)
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		must.Do(t, err)
		must.Do(t, c.Start())
		address, err := bufio.NewReader(out).ReadString('\n')
		must.Do(t, err)
		p := localcluster.Process{PID: c.Process.Pid, Started: procfs.StartTime(c.Process.Pid), Dir: dir}
		if !p.Alive() {
			t.Error("it is alive, and is not seen")
		}
		must.Do(t, c.Process.Kill())
		for p.Alive() { // it is still a zombie
			runtime.Gosched()
		}
		l, err := net.Listen("tcp", strings.TrimSpace(address))
		if err != nil {
			t.Error("its process has ended, but: ", err)
		} else {
			l.Close()
		}
		_ = c.Wait() // it was killed
	}
}
