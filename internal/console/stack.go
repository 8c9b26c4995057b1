package console

import (
	"fmt"
	"strings"
)

// module is the engine's module path; programs under examples/ are users.
const module = "github.com/hammr/hammr/"

// frame is one call of a stack: "main.parse(...)" and "/src/main.go:31 +0x1d".
type stackFrame struct {
	call string
	line string
}

// userStack is a Go stack trace cut to what its reader can act on: the frames of
// the runtime and of the engine go, the rest comes with two lines a frame, at
// most n frames. If nothing is left, the frames are shown as they are.
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

// parseStack reads the frames of a trace as runtime/debug.Stack writes it.
// Lines that are no frame are passed over.
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

// isInternal reports whether the frame is of the Go runtime or of the engine.
// The programs in its tests are users.
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
