package procfs

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
)

const portHolder = "HAMMR_TEST_HOLDS_A_PORT"

func TestMain(m *testing.M) {
	if os.Getenv(portHolder) != "" {
		holdPort()
	}
	os.Exit(m.Run())
}

// holdPort listens on a port, tells which, and has many threads.
func holdPort() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ready := make(chan bool)
	for range 100 {
		go func() {
			runtime.LockOSThread()
			ready <- true
			select {}
		}()
		<-ready
	}
	fmt.Println(l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin) // until whoever started it has ended
}

// TestWhatHasEndedHoldsNoPort kills processes of many threads, of which the first is
// often not the last to end.
func TestWhatHasEndedHoldsNoPort(t *testing.T) {
	for range 20 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), portHolder+"=1")
		if _, err := c.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for StartTime(c.Process.Pid) != "" { // which nobody waits for yet
			runtime.Gosched()
		}
		l, err := net.Listen("tcp", strings.TrimSpace(line))
		if err != nil {
			t.Error("its process has ended, but: ", err)
		} else {
			l.Close()
		}
		_ = c.Wait() // it was killed
	}
}
