package process

import (
	"strings"

	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/tasknode"
)

// crashLine matches the first line that a Go program prints when it crashes.
var crashLine = pattern.New(`(?m)^(?:panic: |fatal error: |SIG[A-Z]+: ).*$`)

// stackLine matches the first line of a goroutine's stack in a crash or dump.
var stackLine = pattern.New(`(?m)^goroutine \d+ .*\[.*\]:$`)

// quitLine begins the dump that a program prints after SIGQUIT.
const quitLine = "SIGQUIT: quit"

// maxDumpBytes limits a dump of goroutines.
const maxDumpBytes = 64 << 10

// crashIn finds in a Go program's stderr why it crashed:
//
//	panic: first [recovered]
//		panic: second
//
//	goroutine 12 [running]:
//	main.f(…)
//
// It returns nil if there is no crash. A program may print text that looks like a crash. So
// crashIn uses the last line that begins a crash and has a stack below it.
func crashIn(stderr string) *tasknode.Crash {
	found := crashLine().FindAllStringIndex(stderr, -1)
	for i := len(found) - 1; i >= 0; i-- {
		below := stderr[found[i][1]:]
		if stack := stackLine().FindStringIndex(below); stack != nil {
			text, _, _ := strings.Cut(below[stack[0]:], "\n\n")
			return &tasknode.Crash{Cause: causeAt(stderr[found[i][0]:]), Stack: strings.TrimSpace(text)}
		}
	}
	return nil
}

// causeAt returns the line that begins a crash, and the lines of panics that followed the
// first panic.
func causeAt(text string) string {
	lines := strings.Split(text, "\n")
	cause := strings.TrimSpace(lines[0])
	for _, line := range lines[1:] {
		if !strings.HasPrefix(line, "\tpanic: ") {
			break
		}
		cause += ", then " + strings.TrimSpace(line)
	}
	return cause
}

// dumpIn returns the stacks of goroutines that were printed after SIGQUIT, "" if there are
// none. The main goroutine comes first, since it runs the task.
func dumpIn(stderr string) string {
	i := strings.LastIndex(stderr, quitLine)
	if i < 0 {
		return ""
	}
	var first, others []string
	for part := range strings.SplitSeq(strings.TrimSpace(stderr[i:]), "\n\n") {
		switch {
		case !stackLine().MatchString(part) || strings.HasPrefix(part, "goroutine 0 "):
		case strings.HasPrefix(part, "goroutine 1 "):
			first = append(first, part)
		default:
			others = append(others, part)
		}
	}
	dump := strings.Join(append(first, others...), "\n\n")
	return strings.ToValidUTF8(dump[:min(len(dump), maxDumpBytes)], "")
}
