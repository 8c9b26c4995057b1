package console

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/hammr/hammr/internal/docs/report"
)

// Limits on the printed details of a failure; the report has all details.
const (
	maxStackFrames = 12
	maxLogLines    = 20
)

// Failure prints why a task failed its job: the cause and the position first, then the stack
// of the user's code and the end of the log. Quiet consoles print it too.
func (c *Console) Failure(f report.Failure) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeLocked(failureText(f))
}

// failureText returns the text that Failure prints. It begins with the most useful parts:
// the cause, then the place, then details.
func failureText(f report.Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Failure of %s\n", orUnknown(f.Task))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", name+":", indentRest(value, "           "))
		}
	}
	field("cause", orUnknown(f.Cause))
	field("attempt", f.Attempt)
	field("node", f.Tasknode)
	field("input", inputText(f))
	section(&b, "stack", userStack(f.Stack, maxStackFrames))
	section(&b, "end of its log", lastLines(f.Log, maxLogLines))
	return b.String()
}

// inputText returns the input with the offset of the record, if it is known.
func inputText(f report.Failure) string {
	if f.Input == "" || f.Offset < 0 {
		return f.Input
	}
	return fmt.Sprintf("%s at byte %d", f.Input, f.Offset)
}

// section writes a titled list of lines. It writes nothing without lines.
func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "  %s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "    %s\n", clean(line))
	}
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// indentRest indents the lines of a text after the first.
func indentRest(s, indent string) string {
	return strings.ReplaceAll(clean(s), "\n", "\n"+indent)
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	return lines[max(len(lines)-n, 0):]
}

// clean makes a program's text safe for a terminal: control characters except tab and
// newline become blanks, and trailing newlines are removed.
func clean(s string) string {
	s = strings.TrimRight(s, "\n")
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
