package process

import (
	"regexp"
	"strings"

	"github.com/hammr/hammr/tasknode"
)

// crashLine begins what a Go program prints when it crashes.
var crashLine = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |SIG[A-Z]+: ).*$`)

// stackLine begins a goroutine's stack in a crash or dump.
var stackLine = regexp.MustCompile(`(?m)^goroutine \d+ .*\[.*\]:$`)

// quitLine begins a dump that was asked for.
const quitLine = "SIGQUIT: quit"

// maxDumpBytes bounds a dump of goroutines.
const maxDumpBytes = 64 << 10

// crashIn picks out of what a Go program printed to stderr why it crashed:
//
//	panic: first [recovered]
//		panic: second
//
//	goroutine 12 [running]:
//	main.f(…)
//
// It is nil where nothing says so. What the program printed before does not
// count: the last line that begins a crash and has a stack below does.
func crashIn(stderr string) *tasknode.Crash {
	found := crashLine.FindAllStringIndex(stderr, -1)
	for i := len(found) - 1; i >= 0; i-- {
		below := stderr[found[i][1]:]
		if stack := stackLine.FindStringIndex(below); stack != nil {
			text, _, _ := strings.Cut(below[stack[0]:], "\n\n")
			return &tasknode.Crash{Cause: causeAt(stderr[found[i][0]:]), Stack: strings.TrimSpace(text)}
		}
	}
	return nil
}

// causeAt is the line that begins a crash with those of panics on top of it.
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

// dumpIn picks the stacks of goroutines out of what was printed at SIGQUIT, the
// main one, which runs the task, first; "" for none.
func dumpIn(stderr string) string {
	i := strings.LastIndex(stderr, quitLine)
	if i < 0 {
		return ""
	}
	var first, others []string
	for part := range strings.SplitSeq(strings.TrimSpace(stderr[i:]), "\n\n") {
		switch {
		case !stackLine.MatchString(part) || strings.HasPrefix(part, "goroutine 0 "):
		case strings.HasPrefix(part, "goroutine 1 "):
			first = append(first, part)
		default:
			others = append(others, part)
		}
	}
	dump := strings.Join(append(first, others...), "\n\n")
	return strings.ToValidUTF8(dump[:min(len(dump), maxDumpBytes)], "")
}
