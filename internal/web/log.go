package web

import (
	"bytes"
	"cmp"
	"context"
	"regexp"

	"github.com/hammr/hammr/internal/docs"
)

const (
	defaultLogBytes = 64 << 10 // of a page
	maxLogScan      = 16 << 20 // bytes that one request with a filter reads
)

// logQuery says which lines of a log are wanted.
type logQuery struct {
	From  int64
	Max   int64                  // bytes of the answer, at least 1; a line is not cut for them
	Match func(line []byte) bool // nil for all lines
}

// lineMatcher returns the function that reports whether a line has a text, or matches a regular
// expression in the syntax of package regexp, which takes linear time. It returns nil for the text "".
func lineMatcher(text string, isRegexp bool) (func([]byte) bool, error) {
	if text == "" {
		return nil, nil
	}
	if !isRegexp {
		return func(line []byte) bool { return bytes.Contains(line, []byte(text)) }, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, docs.Bad("filter", "is not a regular expression: "+err.Error())
	}
	return re.Match, nil
}

// logLines are whole lines of a log.
type logLines struct {
	docs.LogPart
	Next int64 // offset of what follows the lines, and the lines that did not match
}

// readLog returns lines of a log. read reads a part of it. If the range begins in the middle of a log
// as counted from its end, the answer begins at the next line if there is one. It ends with a whole line, unless the
// log or the line ends otherwise.
func readLog(ctx context.Context, q logQuery, read func(context.Context, docs.LogRange) (docs.LogPart, error)) (l logLines, err error) {
	if q.Match == nil {
		l.LogPart, err = read(ctx, docs.LogRange{From: q.From, Max: q.Max})
		if err != nil {
			return l, err
		}
		if q.From < 0 && l.Offset > 0 {
			if skipped := bytes.IndexByte(l.Text, '\n') + 1; skipped < len(l.Text) {
				l.Text, l.Offset = l.Text[skipped:], l.Offset+int64(skipped)
			}
		}
		l.Text = wholeLines(l.LogPart)
		l.Next = l.Offset + int64(len(l.Text))
		return l, nil
	}
	from, found := q.From, []byte{}
	for first := true; ; first = false {
		part, err := read(ctx, docs.LogRange{From: from, Max: docs.MaxLogBytes})
		if err != nil {
			return l, err
		}
		if first {
			l.LogPart, l.Next = part, part.Offset
		}
		text := wholeLines(part)
		l.Size, l.Complete = part.Size, part.Complete
		for len(text) > 0 && int64(len(found)) < q.Max {
			line := text[:cmp.Or(bytes.IndexByte(text, '\n')+1, len(text))]
			if q.Match(bytes.TrimSuffix(line, []byte("\n"))) {
				found = append(found, line...)
			}
			text, l.Next = text[len(line):], l.Next+int64(len(line))
		}
		if from = l.Next; l.Next >= l.Size || int64(len(found)) >= q.Max || l.Next-l.Offset >= maxLogScan || len(part.Text) == 0 {
			l.Text = found
			return l, nil
		}
	}
}

// wholeLines returns the text of a part without the begin of its last line, unless the log ends there
// or the part has no whole line.
func wholeLines(p docs.LogPart) []byte {
	if end := bytes.LastIndexByte(p.Text, '\n') + 1; end > 0 && p.Offset+int64(len(p.Text)) < p.Size {
		return p.Text[:end]
	}
	return p.Text
}
