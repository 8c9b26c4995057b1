package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/kit/clean"
	"github.com/hammr/hammr/internal/kit/pattern"
	"github.com/hammr/hammr/internal/rpc/access"
)

// logParams are the parameters that choose lines of a log.
var logParams = []docs.Param{
	attemptParam,
	{Name: "from", Doc: "first byte; if negative, so many bytes before the end"},
	{Name: "max", Default: strconv.Itoa(defaultLogBytes), Max: docs.MaxLogBytes, Doc: "bytes at most"},
	{Name: "filter", Doc: "text that a line must have; at most 16 MiB are read for it"},
	{Name: "regex", Enum: []string{"yes"}, Doc: "the filter is a regular expression, in the syntax of RE2"},
}

// streamParam returns the parameter for the output stream of an attempt.
func streamParam(p docs.Param) docs.Param {
	p.Name, p.Enum, p.Doc = "stream", docs.LogStreams, "output stream"
	return p
}

func logRoutes() []*Route {
	list := append(page(logParams...), streamParam(docs.Param{Default: docs.LogStreams[0]}),
		docs.Param{Name: "wrap", Enum: []string{"no"}, Doc: "long lines are not wrapped"}, docs.Param{Name: "follow", Enum: []string{"yes"}, Doc: "lines are added while the attempt prints"})
	return []*Route{
		{Path: "/attempts/{attempt}/logs", Verb: access.ReadLog, Object: "attempt", Params: list, Serve: showLog, Doc: "What an attempt has printed."},
		{Path: "/attempts/{attempt}/logs/{stream}", Verb: access.ReadLog, Object: "attempt", Params: []docs.Param{attemptParam, streamParam(docs.Param{Required: true})},
			Serve: sendLog, Doc: "A whole log, to be saved as a file."},
		{Path: apiRoot + "/attempts/{attempt}/logs/{stream}", Verb: access.ReadLog, Object: "attempt", Serve: answerLog, Answer: LogDocument{},
			Params: append(logParams[:len(logParams):len(logParams)], streamParam(docs.Param{Required: true}), docs.Param{Name: "format", Enum: []string{"text", "json"}, Default: "text", Doc: "json is the text as pages show it"}),
			Doc:    "Lines of a log as text, with the headers Hammr-Log-Offset, Hammr-Log-Next, Hammr-Log-Size and Hammr-Log-Complete."},
	}
}

// LogDocument has lines of a log.
type LogDocument struct {
	Offset   int64  `json:"offset"` // of the first byte that was read
	Next     int64  `json:"next"`   // offset to continue at
	Size     int64  `json:"size"`   // bytes that the log has so far
	Complete bool   `json:"complete"`
	Text     string `json:"text"` // without the escape sequences of a terminal
}

// maxLine bounds a line on a page in bytes.
const maxLine = 64 << 10

// document returns lines as pages show them.
func (l *logLines) document() LogDocument {
	return LogDocument{l.Offset, l.Next, l.Size, l.Complete, clean.Text(withoutSequences(clean.CutLines(string(l.Text), maxLine)))}
}

// controlSequence matches what a program writes for a terminal, such as colours. One of more than 66
// bytes is shown as text.
var controlSequence = pattern.New(`\x1b\[[ -?]{0,63}[@-~]`)

// withoutSequences leaves out control sequences, and the CR of CR LF.
func withoutSequences(text string) string {
	return controlSequence().ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
}

// reader returns the function that reads parts of a log.
func (c *call) reader(stream string) func(context.Context, docs.LogRange) (docs.LogPart, error) {
	return func(ctx context.Context, r docs.LogRange) (docs.LogPart, error) {
		return c.cfg.Source.Log(ctx, c.params["attempt"], stream, r)
	}
}

// logLines returns the lines that the parameters choose, the last ones if they name none.
func (c *call) logLines() (l logLines, err error) {
	if taskOf(c.params["attempt"]) == "" {
		return l, fmt.Errorf("%.200q is not the id of an attempt: %w", c.params["attempt"], docs.ErrUnknown)
	}
	var q logQuery
	if q.Match, err = lineMatcher(c.params["filter"], c.params["regex"] == "yes"); err != nil {
		return l, err
	}
	q.Max, _ = strconv.ParseInt(c.params["max"], 10, 64) // checked already
	switch text := c.params["from"]; {
	case text != "":
		if q.From, err = strconv.ParseInt(text, 10, 64); err != nil {
			return l, docs.Bad("from", fmt.Sprintf("%q: expected a number", text))
		}
	case q.Match != nil:
		q.From = -maxLogScan
	default:
		q.From = -q.Max
	}
	if q.Match != nil {
		leave, err := c.enterHeavy(c.ctx)
		if err != nil {
			return l, err
		}
		defer leave()
	}
	return readLog(c.ctx, q, c.reader(c.params["stream"]))
}

// logData is the page of a log.
type logData struct {
	LogDocument
	Attempt report.Attempt
	Job     string
	Task    string
	Stream  string
	Streams []string
	Printed bool   // the attempt has printed something, and it is kept
	Earlier string // URL of the part before; "" at the begin
	Later   string // URL of the part after; "" at the end
	More    string // URL of lines that are added, for the script; "" if none will be
	Chosen  bool   // only lines that match a filter are shown
}

// showLog shows a part of a log. An attempt that has printed nothing has a page too.
func showLog(c *call) error {
	id := c.params["attempt"]
	d := logData{Job: docs.JobOf(id), Task: taskOf(id), Stream: c.params["stream"], Streams: docs.LogStreams, Chosen: c.params["filter"] != ""}
	lines, err := c.logLines()
	if err != nil && (d.Task == "" || !errors.Is(err, docs.ErrUnknown)) {
		return err
	}
	d.Printed = err == nil
	for _, attempt := range read(c, docs.Task, docs.TaskID{Job: d.Job, Task: d.Task}).Attempts {
		if attempt.ID == id {
			d.Attempt = attempt
		}
	}
	if d.Attempt.ID == "" {
		c.reject(fmt.Errorf("no attempt %s has started: %w", id, docs.ErrUnknown))
	}
	d.LogDocument = lines.document()
	d.links(c)
	return c.render(http.StatusOK, "log", d.Stream+" of "+id, &d, Command{"its logs", "hammr task logs " + shellWord(id)})
}

// links sets the URLs of other parts of the log.
func (d *logData) links(c *call) {
	v := &view{call: c}
	width, _ := strconv.ParseInt(c.params["max"], 10, 64) // checked already
	if d.Offset > 0 {
		d.Earlier = v.With("from", max(0, d.Offset-width), "follow", "")
	}
	if d.Next < d.Size {
		d.Later = v.With("from", d.Next, "follow", "")
	}
	if c.params["follow"] == "yes" && d.Printed && !(d.Complete && d.Next == d.Size) {
		q := url.Values{"format": {"json"}, "max": {strconv.Itoa(docs.MaxLogBytes / 4)}}
		for _, name := range []string{"filter", "regex"} {
			if c.params[name] != "" {
				q.Set(name, c.params[name])
			}
		}
		d.More = c.inBase(apiRoot + "/attempts/" + url.PathEscape(c.params["attempt"]) + "/logs/" + d.Stream + "?" + q.Encode())
	}
}

// setLogHeaders makes the browser take a log for text only, since it can be anything.
func setLogHeaders(h http.Header, p docs.LogPart, next int64) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", access.LogPolicy)
	h.Set("Hammr-Log-Offset", strconv.FormatInt(p.Offset, 10))
	h.Set("Hammr-Log-Next", strconv.FormatInt(next, 10))
	h.Set("Hammr-Log-Size", strconv.FormatInt(p.Size, 10))
	h.Set("Hammr-Log-Complete", strconv.FormatBool(p.Complete))
}

func answerLog(c *call) error {
	lines, err := c.logLines()
	if err != nil {
		return err
	}
	setLogHeaders(c.w.Header(), lines.LogPart, lines.Next)
	if c.params["format"] == "json" {
		return c.json(lines.document())
	}
	return c.send(http.StatusOK, "text/plain; charset=utf-8", lines.Text)
}

// downloadTime bounds the download of a log.
const downloadTime = time.Hour

// sendLog sends a whole log, part by part, so that the memory that it takes does not depend on the log.
// It ends where the log ended when it began.
func sendLog(c *call) error {
	if taskOf(c.params["attempt"]) == "" {
		return fmt.Errorf("%.200q is not the id of an attempt: %w", c.params["attempt"], docs.ErrUnknown)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), downloadTime)
	defer cancel()
	read := c.reader(c.params["stream"])
	part, err := read(ctx, docs.LogRange{Max: docs.MaxLogBytes})
	if err != nil {
		return err
	}
	size := part.Size
	h := c.w.Header()
	setLogHeaders(h, part, size)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", c.params["attempt"]+"-"+c.params["stream"]+".txt"))
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	h.Set(gzhttp.HeaderNoCompression, "yes")
	for at := int64(0); c.r.Method != http.MethodHead; {
		text := part.Text[:min(int64(len(part.Text)), size-at)]
		if _, err := c.w.Write(text); err != nil {
			return nil // the client has disconnected
		}
		if at += int64(len(text)); at >= size {
			return nil
		}
		if part, err = read(ctx, docs.LogRange{From: at, Max: docs.MaxLogBytes}); err == nil && len(part.Text) == 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil { // too late for another status: the answer is shorter than its Content-Length
			c.cfg.Logger.Warn("log was not sent to its end", "attempt", c.params["attempt"], "offset", at, "error", err)
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}
