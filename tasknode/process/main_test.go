package process

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/mr"
	"go.uber.org/goleak"
)

// roleEnv makes the test binary, started as a task, something else than a
// program on package mr.
const roleEnv = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if text := os.Getenv(delegateEnv); text != "" {
		delegateItself(text)
	}
	if text := os.Getenv(daemonEnv); text != "" && os.Getenv(taskproc.ControlVariable) == "" {
		daemon(text)
	}
	if isReplaced() {
		replacedDaemon()
	}
	if role := roles[os.Getenv(roleEnv)]; role != nil && os.Getenv(taskproc.ControlVariable) != "" {
		role()
	}
	mr.ServeTask(job())
	goleak.VerifyTestMain(m)
}

// roles are programs that end before they call package mr.
var roles = map[string]func(){
	"silent": func() { os.Exit(0) },
	"usage": func() {
		fmt.Fprintln(os.Stderr, "usage: silent FILE")
		os.Exit(2)
	},
	"who": func() {
		fmt.Println(os.Getuid(), os.Getgid(), strings.Join(os.Environ(), " "))
		if err := os.WriteFile("mine", nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(0)
	},
	"environ": func() {
		fmt.Println(strings.Join(os.Environ(), "\n"))
		os.Exit(0)
	},
}

// actionProperty is the property that names what the mapper does at a record.
const actionProperty = "test.action"

// job is map-only. Its mapper does what the property names.
func job() mr.Runnable {
	mapper := mr.MapFunc(func(t *mr.Task, offset int64, line []byte, out mr.Emitter[string, int64]) error {
		out.Emit(string(line), offset)
		if do := actions[t.Property(actionProperty)]; do != nil {
			return do(t)
		}
		return nil
	})
	return mr.MapOnly("job", mr.TextLines(), mapper, mr.TextOutput[string, int64]())
}

var actions = map[string]func(t *mr.Task) error{
	"fail": func(t *mr.Task) error {
		t.Log().Info("about to fail")
		return errors.New("no good: \xff")
	},
	"panic":           func(*mr.Task) error { panic("on purpose") },
	"goroutine panic": func(*mr.Task) error { return crashElsewhere() },
	"exit": func(*mr.Task) error {
		log.Fatal("giving up")
		return nil
	},
	"wait":  waitForFIFO,
	"shout": func(*mr.Task) error { return shout(100 << 20) },
	"deaf": func(t *mr.Task) error {
		t.SetStatus("deaf")
		return blockForever()
	},
	"eat": func(*mr.Task) error { return eat() },
	"child eats": func(*mr.Task) error {
		eater := exec.Command("tail", "/dev/zero") // which keeps the last line, however long
		return eater.Run()
	},
	"leave a goroutine": func(t *mr.Task) error {
		go blockForever()
		return speak(t)
	},
	"speak":    speak,
	"children": func(*mr.Task) error { return leaveChildren() },
	"suicide": func(*mr.Task) error {
		return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), blockForever())
	},
}

// spoken counts the records of all tasks of this process.
var spoken int

// speak prints the attempt, the number of records of the process, the directory, and how
// many temporary files there are; it leaves one more.
func speak(t *mr.Task) error {
	spoken++
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(os.TempDir())
	if err != nil {
		return err
	}
	fmt.Println("attempt", t.ID(), spoken, filepath.Base(dir), filepath.Base(os.Getenv("PWD")), len(files))
	fmt.Fprintln(os.Stderr, "errors of", t.ID())
	_, err = os.CreateTemp("", "left")
	return err
}

func crashElsewhere() error {
	go func() { panic("elsewhere") }()
	return blockForever()
}

// shout prints that many bytes to each stream.
func shout(bytes int) error {
	lines := strings.Repeat(strings.Repeat("x", 1023)+"\n", 64)
	for range bytes / len(lines) {
		fmt.Print(lines)
		fmt.Fprint(os.Stderr, lines)
	}
	fmt.Println("the end")
	return nil
}

func blockForever() error {
	<-make(chan error)
	return nil
}

// eat allocates memory until it is killed.
func eat() error {
	var eaten [][]byte
	for {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		eaten = append(eaten, piece)
		if len(eaten) > 16<<10 {
			return fmt.Errorf("%d MiB eaten", len(eaten))
		}
	}
}

// leaveChildren starts one process that stays in the group and one that leaves it, and
// prints the pid of the latter. Both keep the streams open.
func leaveChildren() error {
	for _, leave := range []bool{false, true} {
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: leave}
		if err := child.Start(); err != nil {
			return err
		}
		if leave {
			fmt.Println(child.Process.Pid)
		}
	}
	return nil
}
