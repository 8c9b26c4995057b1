package taskproc

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/testing/must"
)

func TestControlSocketIsInheritedOnce(t *testing.T) {
	if conn, err := Inherited(); conn != nil || err != nil {
		t.Fatalf("without a mark: %v, %v", conn, err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must.Do(t, err)
	node := os.NewFile(uintptr(pair[0]), "node")
	defer node.Close()
	t.Setenv(ControlVariable, strconv.Itoa(pair[1]))
	conn, err := Inherited()
	must.Do(t, err)
	task := NewTaskEnd(conn)
	defer task.Close()
	must.Do(t, WriteMessage(node, &ToTask{Message: &ToTask_Start{Start: &Start{Program: "p"}}}))
	if start, err := task.ReceiveStart(); err != nil || start.Program != "p" {
		t.Errorf("received %v, %v", start, err)
	}
	must.Do(t, WriteMessage(node, &ToTask{Message: &ToTask_Kill{Kill: new(Kill)}}))
	if _, err := task.ReceiveStart(); err == nil || !strings.Contains(err.Error(), "another message came first") {
		t.Errorf("a Kill as first message: %v", err)
	}
	node.Close()
	if _, err := task.ReceiveStart(); err == nil || !strings.Contains(err.Error(), "EOF") {
		t.Errorf("at the end: %v", err)
	}
	if again, err := Inherited(); again != nil || err != nil {
		t.Errorf("a second time: %v, %v", again, err)
	}
}

func TestVariableThatNamesNoSocketIsRefused(t *testing.T) {
	file, err := os.Open(os.DevNull)
	must.Do(t, err)
	for _, mark := range []string{"", "x", "-1", "1", "65536", strconv.Itoa(int(file.Fd()))} {
		t.Setenv(ControlVariable, mark)
		if conn, err := Inherited(); conn != nil || err == nil || !strings.Contains(err.Error(), ControlVariable+"="+mark) {
			t.Errorf("mark %q: %v, %v", mark, conn, err)
		}
	}
}
