package process

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

func TestCrashIsFoundInWhatWasPrinted(t *testing.T) {
	const stack = "goroutine 7 [running]:\nmain.f()\n\t/src/f.go:1 +0x1d"
	for _, c := range []struct {
		name, stderr string
		want         *tasknode.Crash
	}{
		{"nothing", "", nil},
		{"a line that looks like it", "panic: at the disco\nmore\n", nil},
		{"panic", "hello\npanic: boom\n\n" + stack + "\n\ngoroutine 8 [sleep]:\nx\n", &tasknode.Crash{Cause: "panic: boom", Stack: stack}},
		{"panic on panic", "panic: one [recovered]\n\tpanic: two\n\n" + stack + "\n", &tasknode.Crash{Cause: "panic: one [recovered], then panic: two", Stack: stack}},
		{
			"the last of several", "panic: early\n\ngoroutine 1 [running]:\nx\n\nlater\nfatal error: all goroutines are asleep - deadlock!\n\n" + stack + "\n",
			&tasknode.Crash{Cause: "fatal error: all goroutines are asleep - deadlock!", Stack: stack},
		},
		{
			"of the runtime", "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\nruntime stack:\nx\n\n" + stack + "\n",
			&tasknode.Crash{Cause: "fatal error: stack overflow", Stack: stack},
		},
		{"of C", "SIGSEGV: segmentation violation\nPC=0x1 m=0\n\n" + stack + "\n", &tasknode.Crash{Cause: "SIGSEGV: segmentation violation", Stack: stack}},
		{"with more in the header", "panic: x\n\ngoroutine 1 gp=0xc000002380 m=nil [chan receive, 2 minutes]:\nf()\n", &tasknode.Crash{Cause: "panic: x", Stack: "goroutine 1 gp=0xc000002380 m=nil [chan receive, 2 minutes]:\nf()"}},
	} {
		switch got := crashIn(c.stderr); {
		case (got == nil) != (c.want == nil):
			t.Errorf("%s: %v", c.name, got)
		case got != nil && *got != *c.want:
			t.Errorf("%s: %+v, want %+v", c.name, *got, *c.want)
		}
	}
}

func TestDumpHasTheMainGoroutineFirst(t *testing.T) {
	const text = "noise\n\nSIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\ngoroutine 0 [idle]:\nidle\n\ngoroutine 5 [select]:\nfive\n\ngoroutine 1 [chan receive]:\none\n\nrax 0x1\n"
	if got, want := dumpIn(text), "goroutine 1 [chan receive]:\none\n\ngoroutine 5 [select]:\nfive"; got != want {
		t.Errorf("dump %q, want %q", got, want)
	}
	if got := dumpIn("panic: no dump\n\ngoroutine 1 [running]:\n"); got != "" {
		t.Errorf("dump %q", got)
	}
	long := "SIGQUIT: quit\n\n" + strings.Repeat("goroutine 3 [select]:\n"+strings.Repeat("é", 500)+"\n\n", 100)
	if got := dumpIn(long); len(got) > maxDumpBytes || len(got) < maxDumpBytes-2 {
		t.Errorf("a dump of %d bytes", len(got))
	}
}

func FuzzStderr(f *testing.F) {
	f.Add("panic: x\n\ngoroutine 1 [running]:\nmain.main()\n")
	f.Add("SIGQUIT: quit\n\ngoroutine 1 [running]:\n\n\n")
	f.Fuzz(func(t *testing.T, stderr string) {
		if c := crashIn(stderr); c != nil && (!strings.Contains(stderr, c.Stack) || !strings.HasPrefix(c.Stack, "goroutine ")) {
			t.Errorf("stack %q", c.Stack)
		}
		if d := dumpIn(stderr); len(d) > len(stderr) {
			t.Errorf("dump %q", d)
		}
	})
}

func TestMemoryIsReadFromProc(t *testing.T) {
	child := exec.Command("sleep", "1000")
	must.Do(t, child.Start())
	defer func() {
		child.Process.Kill()
		child.Wait()
		if got := residentOf(child.Process.Pid); got != 0 {
			t.Errorf("%d bytes of an exited process", got)
		}
	}()
	if got := residentOf(os.Getpid()); got < 1<<20 || got > 1<<40 {
		t.Errorf("%d bytes of this process", got)
	}
	groups, total := residentByGroup(), int64(0)
	for _, bytes := range groups {
		total += bytes
	}
	if total < residentOf(child.Process.Pid) || len(groups) == 0 {
		t.Errorf("%d bytes in %d groups", total, len(groups))
	}
}
