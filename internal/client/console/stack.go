package console

import (
	"fmt"
	"strings"
)

// module is the engine's module path. Programs below examples/ count as users' code.
const module = "github.com/hammr/hammr/"

// stackFrame is one call of a stack: "main.parse(...)" and "/src/main.go:31 +0x1d".
type stackFrame struct {
	call string
	line string
}

// userStack returns the part of a Go stack trace that helps a user: at most n frames, two
// lines each, without the runtime and the engine. If nothing remains, all frames are shown.
func userStack(trace string, n int) []string {
	all := parseStack(trace)
	var kept []stackFrame
	for _, f := range all {
		if !f.isInternal() {
			kept = append(kept, f)
		}
	}
	if len(kept) == 0 {
		kept = all
	}
	var lines []string
	for i, f := range kept {
		if i == n {
			lines = append(lines, fmt.Sprintf("… and %d more", len(kept)-n))
			break
		}
		lines = append(lines, f.call)
		if f.line != "" {
			lines = append(lines, "    "+f.line)
		}
	}
	return lines
}

// parseStack reads the frames of a trace of runtime/debug.Stack, which have two lines: the
// call, then file and line after a tab. It skips lines that are not frames.
func parseStack(trace string) []stackFrame {
	var frames []stackFrame
	for _, line := range strings.Split(trace, "\n") {
		switch {
		case strings.HasPrefix(line, "\t"):
			if len(frames) > 0 && frames[len(frames)-1].line == "" {
				place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
				frames[len(frames)-1].line = place
			}
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "goroutine "):
		default:
			frames = append(frames, stackFrame{call: strings.TrimSpace(line)})
		}
	}
	return frames
}

// isInternal reports whether the frame is in the Go runtime or the engine. Code in tests
// counts as users' code.
func (f stackFrame) isInternal() bool {
	if strings.Contains(f.line, "_test.go:") && !strings.HasPrefix(f.call, "created by ") {
		return false
	}
	call := strings.TrimPrefix(f.call, "created by ")
	if rest, ok := strings.CutPrefix(call, module); ok {
		path, _, _ := strings.Cut(rest, ".")
		return !strings.HasPrefix(path, "examples/") && !strings.HasSuffix(path, "_test")
	}
	for _, prefix := range []string{"panic(", "runtime.", "runtime/debug.", "testing."} {
		if strings.HasPrefix(call, prefix) {
			return true
		}
	}
	return false
}
