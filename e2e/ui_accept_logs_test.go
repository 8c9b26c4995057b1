//go:build accept

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
	pages "github.com/hammr/hammr/internal/web"
)

// Sizes of the logs.
const (
	longLog  = 1 << 30 // bytes, of which a tasknode keeps the first and the last ones
	tailTime = 20 * time.Second
	tailRate = 10_000 // lines a second
	rubbish  = 4 << 20
)

// printedBy starts a job of one map that prints in a way of chatty, and returns its attempt.
func (e *engine) printedBy(way string) (job, attempt string) {
	e.t.Helper()
	job = e.submitProgram("chatty", "-D", chattyProperty+"="+way, newFile(e.t, "in", []byte("line\n")), filepath.Join(e.t.TempDir(), "out"))
	j := preempted{e, job}
	waitUntil(e.t, "the map runs", func() bool {
		running := slices.Concat(j.attempts(report.Map, report.Running), j.attempts(report.Map, report.Succeeded))
		if len(running) > 0 {
			attempt = running[0].ID
		}
		return attempt != ""
	})
	return job, attempt
}

// part is a part of a log.
type part struct {
	text       string
	next, size int64
	complete   bool
	took       time.Duration
}

// logPart reads a part of the log of an attempt.
func (b *browser) logPart(attempt, query string) (p part) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.root+"/api/v1/attempts/"+attempt+"/logs/stdout?"+query, nil)
	must.Do(b.t, err)
	began := time.Now()
	answer, err := b.http.Do(r)
	must.Do(b.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Do(b.t, err)
	if answer.StatusCode != http.StatusOK {
		return part{}
	}
	p = part{text: string(text), complete: answer.Header.Get("Hammr-Log-Complete") == "true", took: time.Since(began)}
	p.next, _ = strconv.ParseInt(answer.Header.Get("Hammr-Log-Next"), 10, 64)
	p.size, _ = strconv.ParseInt(answer.Header.Get("Hammr-Log-Size"), 10, 64)
	return p
}

// TestAcceptLogs reads a log of 1 GiB, follows one with 10,000 lines a second, and shows one of bytes
// that are no text, by a master that does not run the attempts.
func TestAcceptLogs(t *testing.T) {
	e := newEngine(t, "--tasknodes", "1")
	b := newBrowser(t, e.state.Masters[0].HTTP, filepath.Join(e.dir, localcluster.TokenFile))
	b.http.Timeout = 10 * time.Minute
	before := memoryOf(t, e.state.Masters[0].PID)
	e.checkTail(b)
	e.checkRubbish(b)
	e.checkLong(b)
	after := memoryOf(t, e.state.Masters[0].PID)
	figure("the master has %d MiB, %d before", after, before)
	if after > before+moreMiB {
		t.Errorf("the master needs %d MiB, %d before", after, before)
	}
}

func (e *engine) checkLong(b *browser) {
	e.t.Helper()
	job, attempt := e.printedBy("long")
	e.awaitSuccess(job)
	end := b.logPart(attempt, "from=-1000")
	if end.size > 4<<20 || !strings.HasSuffix(end.text, "the last line\n") {
		e.t.Fatalf("a log of %d bytes ends with %q", end.size, end.text)
	}
	gap := b.logPart(attempt, "from=0&filter=bytes+are+left+out+here")
	if strings.Count(gap.text, "\n") != 1 {
		e.t.Errorf("the log does not say what is left out: %q", gap.text)
	}
	middle := b.logPart(attempt, "from="+strconv.FormatInt(end.size/2, 10)+"&filter=7777")
	began := time.Now()
	r, err := http.NewRequestWithContext(e.t.Context(), http.MethodGet, b.root+"/attempts/"+attempt+"/logs/stdout", nil)
	must.Do(e.t, err)
	answer, err := b.http.Do(r)
	must.Do(e.t, err)
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err != nil || n != end.size {
		e.t.Errorf("%d of %d bytes are saved: %v", n, end.size, err)
	}
	figure("%d MiB printed, %d kept: end %v, filter from the middle %v, whole %.1f s", longLog>>20, end.size>>20, end.took.Round(time.Millisecond), middle.took.Round(time.Millisecond), time.Since(began).Seconds())
	for line := range strings.Lines(middle.text) {
		if !strings.Contains(line, "7777") {
			e.t.Errorf("the filter keeps %q", line)
		}
	}
}

func (e *engine) checkTail(b *browser) {
	e.t.Helper()
	job, attempt := e.printedBy("tail")
	var delays []time.Duration
	lines, gaps, from, p := 0, 0, int64(0), part{}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for !p.complete || p.next < p.size {
		p = b.logPart(attempt, fmt.Sprintf("max=1048576&from=%d", from))
		lines += strings.Count(p.text, "\n")
		if p.next < from { // lines between the first and the last ones are not kept any more
			gaps++
		}
		if from = p.next; p.next == p.size && strings.HasSuffix(p.text, "\n") && !p.complete { // all that was printed
			last := p.text[strings.LastIndex(p.text[:len(p.text)-1], "\n")+1:]
			if millis, err := strconv.ParseInt(strings.Fields(last)[0], 10, 64); err == nil {
				delays = append(delays, time.Since(time.UnixMilli(millis)))
			}
		}
		if p.next == p.size {
			<-tick.C
		}
	}
	e.awaitSuccess(job)
	all := int(tailTime.Seconds()) * tailRate
	if lines < all/2 || lines > all+2*gaps || len(delays) == 0 {
		e.t.Fatalf("%d lines of %d; %d gaps, %d parts, which end at byte %d", lines, all, gaps, len(delays), from)
	}
	slices.Sort(delays)
	figure("%d lines a second: %d of %d lines read, in %d parts, the last line is %v old in the median, %v at most", tailRate, lines, all, len(delays), delays[len(delays)/2].Round(time.Millisecond), delays[len(delays)-1].Round(time.Millisecond))
	if delays[len(delays)/2] > time.Second {
		e.t.Errorf("in the median, the log is %v behind", delays[len(delays)/2])
	}
}

func (e *engine) checkRubbish(b *browser) {
	e.t.Helper()
	job, attempt := e.printedBy("rubbish")
	e.awaitSuccess(job)
	var doc pages.LogDocument
	size := 0
	for from := int64(0); ; from = doc.Next {
		b.json(fmt.Sprintf("/attempts/%s/logs/stdout?format=json&max=1048576&from=%d", attempt, from), &doc)
		size += len(doc.Text)
		if i := strings.IndexFunc(doc.Text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x202a && r <= 0x202e }); i >= 0 {
			e.t.Fatalf("a log is shown with %q", doc.Text[i:min(i+20, len(doc.Text))])
		}
		if doc.Next >= doc.Size || doc.Next <= from {
			break
		}
	}
	page := b.page("/attempts/" + attempt + "/logs?stream=stdout")
	if !utf8.ValidString(page) || doc.Next != doc.Size {
		e.t.Errorf("the page is no text, or the log ends at %d of %d", doc.Next, doc.Size)
	}
	figure("%d MiB of random bytes and escape sequences: %d MiB of text, page of %d KB", doc.Size>>20, size>>20, len(page)/1000)
}
