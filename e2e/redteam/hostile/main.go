package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// task is an attempt of an attack.
type task struct {
	*taskproc.Start
	conn net.Conn
	end  taskproc.TaskEnd
}

// attacks are all attacks by their names. An error is reported as the failure of the attempt.
var attacks = map[string]func(*task) error{
	"unknown edge":         finishes(&taskproc.MapOutput{Edge: 99}),
	"negative edge":        finishes(&taskproc.MapOutput{Edge: -1}),
	"unknown node":         finishes(&taskproc.MapOutput{Task: 7}),
	"long set":             finishes(&taskproc.MapOutput{Empty: make([]byte, 6<<20)}),
	"output elsewhere":     finishes(&taskproc.MapOutput{Path: "/etc/passwd"}),
	"piece elsewhere":      writesPiece,
	"checkpoint elsewhere": checkpointsElsewhere,
	"long message":         announcesLongMessage,
	"many counters":        countsPerWord,
	"noise":                sendsNoise,
	"flood":                floods,
	"fifo":                 publishesFIFO,
	"device":               publishesDevice,
	"look around":          looksAround,
	"read other jobs":      readsOtherJobs,
	"tree":                 makesTree,
	"swap":                 swapsDirectories,
	"escape":               startsDaemon,
	"sockets":              opensSockets,
	"quotes":               func(*task) error { return errors.New("panic: ssn=078-05-1120") },
	"wait":                 waits,
}

// sleeperVariable makes a process of this program sleep.
const sleeperVariable = "HOSTILE_SLEEPER"

func main() {
	if os.Getenv(sleeperVariable) != "" {
		time.Sleep(10 * time.Minute)
		return
	}
	conn, err := taskproc.Inherited()
	if conn == nil || err != nil {
		fmt.Fprintln(os.Stderr, "hostile: not started by a tasknode:", err)
		os.Exit(2)
	}
	t := &task{conn: conn, end: taskproc.NewTaskEnd(conn)}
	if t.Start, err = t.end.ReceiveStart(); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	attack := attacks[t.Properties["redteam.attack"]]
	if attack == nil {
		err = fmt.Errorf("no attack %q", t.Properties["redteam.attack"])
	} else if t.Kind == taskproc.Kind_REDUCE {
		err = readsIndex(t)
	} else {
		err = attack(t)
	}
	if err != nil {
		_ = t.send(&taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: &taskproc.Failure{Cause: err.Error(), Offset: -1, Fatal: true}}})
	}
	conn.Close()
}

// property returns a property of the job that the test has set.
func (t *task) property(name string) string { return t.Properties["redteam."+name] }

// send sends a message, without the limit of TaskEnd.Send.
func (t *task) send(m *taskproc.FromTask) error { return taskproc.WriteMessage(t.conn, m) }

// waits returns when the tasknode closes the connection, or when the job is killed.
func waits(t *task) error {
	for {
		m, err := t.end.Receive()
		if err != nil || m.GetKill() != nil {
			return nil
		}
	}
}
