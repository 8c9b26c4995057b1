package console

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
)

const panicTrace = `goroutine 19 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/hammr/hammr/internal/task.recovered({0x1234, 0x5678})
	/src/hammr/internal/task/failure.go:20 +0x2b
panic({0x4a2f80?, 0xc000012345?})
	/usr/local/go/src/runtime/panic.go:783 +0x132
runtime.goPanicIndex(0x5, 0x3)
	/usr/local/go/src/runtime/panic.go:115 +0x74
strconv.mustParse(...)
	/usr/local/go/src/strconv/atoi.go:10
main.parse({0xc000100000, 0x10, 0x20})
	/home/ada/job/main.go:31 +0x1d
main.init.func1(0x0, {0xc000100000, 0x10, 0x20})
	/home/ada/job/main.go:17 +0x44
github.com/hammr/hammr/mr.MapFunc[...].Map(...)
	/src/hammr/mr/map.go:12 +0x61
created by github.com/hammr/hammr/internal/task.Run in goroutine 1
	/src/hammr/internal/task/run.go:55 +0x99
`

func TestFailureShowsCauseFirst(t *testing.T) {
	c, out, _ := newConsole(Options{Quiet: true})
	c.Failure(report.Failure{
		Task:     "task_1_0001_m_000003",
		Attempt:  "attempt_1_0001_m_000003_0",
		Tasknode: "localhost",
		Cause:    "panic: runtime error: index out of range [5] with length 3",
		Input:    "file:///data/in.txt",
		Offset:   48213,
		Log:      "reading\nlast words\n",
		Stack:    panicTrace,
	})
	checkText(t, out.String(), `Failure of task_1_0001_m_000003
  cause:   panic: runtime error: index out of range [5] with length 3
  attempt: attempt_1_0001_m_000003_0
  node:    localhost
  input:   file:///data/in.txt at byte 48213
  stack:
    strconv.mustParse(...)
        /usr/local/go/src/strconv/atoi.go:10
    main.parse({0xc000100000, 0x10, 0x20})
        /home/ada/job/main.go:31
    main.init.func1(0x0, {0xc000100000, 0x10, 0x20})
        /home/ada/job/main.go:17
  end of its log:
    reading
    last words
`)
}

func TestFailureWithLittleKnown(t *testing.T) {
	c, out, _ := newConsole(Options{})
	c.Failure(report.Failure{Cause: "line one\nline two", Input: "mem:///in", Offset: report.UnknownOffset})
	checkText(t, out.String(), `Failure of unknown
  cause:   line one
           line two
  input:   mem:///in
`)
}

func TestStackAndLogAreBounded(t *testing.T) {
	var trace, log strings.Builder
	for i := range 100 {
		fmt.Fprintf(&trace, "main.f%d()\n\t/src/main.go:%d +0x1\n", i, i)
		fmt.Fprintf(&log, "line %d\n", i)
	}
	text := failureText(report.Failure{Stack: trace.String(), Log: log.String()})
	for _, want := range []string{"main.f11()", "… and 88 more", "line 80\n", "line 99\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, no := range []string{"main.f12()", "line 79\n"} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in\n%s", no, text)
		}
	}
}

func TestInternalStackIsShownIfNothingElseRemains(t *testing.T) {
	lines := userStack(string(debug.Stack()), 20)
	if len(lines) == 0 || !strings.Contains(strings.Join(lines, "\n"), "TestInternalStack") {
		t.Errorf("stack of this test: %q", lines)
	}
}

func FuzzUserStack(f *testing.F) {
	f.Add(panicTrace, 3)
	f.Add("\t\n\t", 0)
	f.Fuzz(func(t *testing.T, trace string, n int) {
		if n < 0 {
			return
		}
		if lines := userStack(trace, n); len(lines) > 2*n+1 {
			t.Errorf("%d lines for %d frames", len(lines), n)
		}
	})
}
