package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
)

// script is a metadata service and a tasknode in virtual time. It writes what happens to a
// timeline, with seconds since the beginning.
type script struct {
	began    time.Time
	timeline []string

	// What the service says, from a second on.
	says []said
	// left is how much is left at each call of Drain; then nothing.
	left                       []string
	drainErr, undoErr, ackErrs []error // of the first calls
	polls                      int
}

// said is what a service says from a second on.
type said struct {
	from    int
	notices []Notice
	err     error
}

func (s *script) write(format string, args ...any) {
	line := fmt.Sprintf("%d ", int(time.Since(s.began)/time.Second)) + fmt.Sprintf(format, args...)
	s.timeline = append(s.timeline, line)
}

func (s *script) Poll(ctx context.Context, wait time.Duration) ([]Notice, error) {
	if err := syncutil.Sleep(ctx, wait); err != nil {
		return nil, err
	}
	s.polls++
	var now said
	for _, x := range s.says {
		if time.Since(s.began) >= time.Duration(x.from)*time.Second {
			now = x
		}
	}
	return now.notices, now.err
}

func (s *script) Acknowledge(_ context.Context, n Notice) error {
	s.write("acknowledge %s", n.ID)
	return next(&s.ackErrs)
}

func (s *script) Drain(context.Context) (string, error) {
	if err := next(&s.drainErr); err != nil {
		s.write("drain: %v", err)
		return "", err
	}
	left := next(&s.left)
	s.write("drain: %q left", left)
	return left, nil
}

func (s *script) Undo(context.Context) error {
	s.write("undo")
	return next(&s.undoErr)
}

// next takes the first element of a list, the zero value if it is empty.
func next[T any](list *[]T) (first T) {
	if len(*list) > 0 {
		first, *list = (*list)[0], (*list)[1:]
	}
	return first
}

// play runs a Watcher for some seconds. It returns the timeline, and the log without times.
func (s *script) play(t *testing.T, seconds int) (timeline, log string) {
	t.Helper()
	var out bytes.Buffer
	w, err := New(Config{Source: s, Drainer: s, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	must.Do(t, err)
	s.began = time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+time.Millisecond)
	defer cancel()
	w.Run(ctx)
	return strings.Join(s.timeline, "\n"), out.String()
}

// interruption is a notice with a deadline at a second of a bubble's time.
func interruption(second int) Notice {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of every bubble
	return Notice{ID: "e1", Kind: Interruption, Text: "stop", Deadline: begin.Add(time.Duration(second) * time.Second), Alone: true}
}

func TestWatcher(t *testing.T) {
	outage := errors.New("connection refused")
	for name, c := range map[string]struct {
		script   script
		seconds  int
		timeline string
		log      []string // parts of it, in this order
		not      []string // parts that it does not have
	}{
		"nothing happens": {
			script: script{says: []said{{}}}, seconds: 60, not: []string{"msg="},
		},
		"a drain before the deadline": {
			script: script{says: []said{{}, {from: 12, notices: []Notice{interruption(60)}}}, left: []string{"2 attempts", "1 output"}}, seconds: 100,
			timeline: "15 drain: \"2 attempts\" left\n16 drain: \"1 output\" left\n17 drain: \"\" left\n17 acknowledge e1",
			log:      []string{"machine will be stopped by the cloud", `notice="interruption at 2000-01-01T00:01:00Z (stop)"`, "machine drained", "notice acknowledged"},
			not:      []string{"not empty", "withdrawn"},
		},
		"too much is left": {
			script: script{says: []said{{notices: []Notice{interruption(2)}}}, left: []string{"a", "a", "a", "a"}}, seconds: 10,
			timeline: "0 drain: \"a\" left\n1 drain: \"a\" left\n2 drain: \"a\" left\n3 drain: \"a\" left\n4 drain: \"\" left\n4 acknowledge e1",
			log:      []string{"machine is not empty at the deadline of the cloud", "left=a", "machine drained"},
		},
		"a notice is withdrawn": {
			script: script{says: []said{{notices: []Notice{interruption(60)}}, {from: 10}, {from: 20, notices: []Notice{interruption(60)}}}}, seconds: 22,
			timeline: "0 drain: \"\" left\n0 acknowledge e1\n10 undo\n20 drain: \"\" left\n20 acknowledge e1",
			log:      []string{"machine drained", "notice of the cloud withdrawn", "machine will be stopped by the cloud", "machine drained"},
		},
		"withdrawn before the machine is empty, and the masters do not answer": {
			script: script{says: []said{{notices: []Notice{interruption(60)}}, {from: 2}}, left: []string{"a", "a", "a"}, undoErr: []error{outage, outage}}, seconds: 10,
			timeline: "0 drain: \"a\" left\n1 drain: \"a\" left\n2 undo\n3 undo\n4 undo",
			log:      []string{"end of the drain for a withdrawn notice failed", "calls succeed again", "failures=2", "notice of the cloud withdrawn"},
		},
		"the drain is refused for a while": {
			script: script{says: []said{{notices: []Notice{interruption(60)}}}, drainErr: []error{outage, outage, outage}}, seconds: 10,
			timeline: "0 drain: connection refused\n1 drain: connection refused\n2 drain: connection refused\n3 drain: \"\" left\n3 acknowledge e1",
			log:      []string{"drain for a notice of the cloud failed", "failures=3", "machine drained"},
		},
		"the service fails during a drain": {
			script: script{says: []said{{notices: []Notice{interruption(60)}}, {from: 1, err: outage}}, left: []string{"a", "a"}}, seconds: 10,
			timeline: "0 drain: \"a\" left\n1 drain: \"a\" left\n2 drain: \"\" left\n2 acknowledge e1",
			log:      []string{"metadata service does not answer as expected", "machine drained"},
			not:      []string{"withdrawn"},
		},
		"the deadline moves": {
			script: script{says: []said{{notices: []Notice{interruption(60)}}, {from: 10, notices: []Notice{interruption(30)}}}, ackErrs: []error{outage}}, seconds: 12,
			timeline: "0 drain: \"\" left\n0 acknowledge e1\n5 acknowledge e1",
			log:      []string{"acknowledgement of a notice failed", "notice acknowledged", "notice of the cloud changed", "00:00:30Z"},
		},
		"a restarted daemon continues": {
			script: script{says: []said{{notices: []Notice{{Kind: Maintenance, Text: "reboot"}}}}, left: []string{"a"}}, seconds: 10,
			timeline: "0 drain: \"a\" left\n1 drain: \"\" left",
			log:      []string{`notice="maintenance (reboot)"`},
			not:      []string{"acknowledge"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				timeline, log := c.script.play(t, c.seconds)
				if timeline != c.timeline {
					t.Errorf("got\n%s\nwant\n%s", timeline, c.timeline)
				}
				rest := log
				for _, part := range c.log {
					_, after, found := strings.Cut(rest, part)
					if !found {
						t.Fatalf("the log has no %q there:\n%s", part, log)
					}
					rest = after
				}
				for _, part := range c.not {
					if strings.Contains(log, part) {
						t.Errorf("the log has %q:\n%s", part, log)
					}
				}
			})
		})
	}
}

// TestFailuresOfTheServiceAreLoggedOnce lets a service fail for an hour, in two ways.
func TestFailuresOfTheServiceAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := func(port int) error {
			return fmt.Errorf("read tcp 10.0.0.1:%d->169.254.169.254:80: refused", port)
		}
		s := script{says: []said{{err: refused(1)}, {from: 60, err: refused(2)}, {from: 1800, err: errors.New("status 500")}, {from: 3600}}}
		_, log := s.play(t, 3700)
		for part, want := range map[string]int{"refused\"": 1, `error="status 500"`: 1, "calls succeed again": 1, "level=WARN": 2} {
			if n := strings.Count(log, part); n != want {
				t.Errorf("%q is there %d times, want %d:\n%s", part, n, want, log)
			}
		}
		if s.polls < 60 || s.polls > 100 {
			t.Errorf("%d polls in an hour of failures, want one a minute", s.polls)
		}
	})
}

func TestWatcherNeedsItsParts(t *testing.T) {
	if _, err := New(Config{Interval: -1}); err == nil || strings.Count(err.Error(), "notice: ") != 3 {
		t.Errorf("error is %v", err)
	}
}
