package tasknode

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"google.golang.org/protobuf/proto"
)

// sentBy returns what a flush sends, as attempts with fractions; * marks counters.
func sentBy(p *PendingProgress) string {
	var sent []string
	for _, r := range p.Flush(time.Now(), false) {
		text := fmt.Sprint(r.AttemptId, r.GetProgress().Fraction)
		if len(r.GetProgress().Counters) > 0 {
			text += "*"
		}
		sent = append(sent, text)
	}
	return strings.Join(sent, " ")
}

func wantSent(t *testing.T, when string, p *PendingProgress, want string) {
	t.Helper()
	if got := sentBy(p); got != want {
		t.Errorf("%s: sent %q, want %q", when, got, want)
	}
}

// reportOf returns progress with a mark and counters.
func reportOf(fraction float64, mark uint64) *taskproc.Progress {
	return &taskproc.Progress{Fraction: fraction, Mark: mark, Counters: []*taskproc.Counter{{Name: "n", Value: int64(mark)}}}
}

func TestLatestProgressOfEachAttemptIsBatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p PendingProgress
		for i, attempt := range []string{"b", "a", "c", "b"} {
			p.Add(attempt, reportOf(float64(i+1)/10, 0), 0, time.Second)
			time.Sleep(100 * time.Millisecond)
		}
		p.Drop("c")
		<-p.due
		wantSent(t, "when due", &p, "a0.2 b0.4")
		wantSent(t, "again", &p, "")
		if p.due != nil {
			t.Error("it is due again")
		}
	})
}

// TestMasterGetsOnlyProgressThatItNeeds reports progress of which some does not show.
func TestMasterGetsOnlyProgressThatItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p PendingProgress
		step := func(when string, latest *taskproc.Progress, want string) {
			t.Helper()
			p.Add("a", latest, 0, time.Hour)
			wantSent(t, when, &p, want)
		}
		step("the first report", reportOf(0.5, 1), "a0.5")
		time.Sleep(minInterval / 2)
		step("less than a percent", reportOf(0.505, 2), "")
		step("a percent too early", reportOf(0.51, 3), "")
		time.Sleep(minInterval / 2)
		wantSent(t, "a percent", &p, "a0.51")
		time.Sleep(minInterval)
		wantSent(t, "a heartbeat without progress", &p, "")
		step("hidden progress", reportOf(0.51, 4), "a0.51")
		step("more of it at once", reportOf(0.511, 5), "")
		time.Sleep(minInterval)
		wantSent(t, "a heartbeat with hidden progress", &p, "a0.511")
		phase := reportOf(0.511, 5)
		phase.Phase = "sort"
		step("another phase", phase, "a0.511")
		memory := reportOf(0.511, 5)
		memory.Phase, memory.MemoryBytes = "sort", 1<<20
		step("more memory too early", memory, "")
		time.Sleep(minInterval)
		wantSent(t, "more memory", &p, "a0.511")
		p.RequestCounters("a")
		wantSent(t, "requested counters", &p, "a0.511*")
		wantSent(t, "requested once", &p, "")
		time.Sleep(countersInterval)
		wantSent(t, "counters without a request", &p, "a0.511*")
		p.ResendAll()
		wantSent(t, "another master", &p, "a0.511")
	})
}

// TestHiddenProgressIsReportedLessOften runs attempts with different timeouts for a minute. They
// progress every 250 ms, less than a percent in all.
func TestHiddenProgressIsReportedLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p PendingProgress
		start := time.Now()
		ages := make(map[string][]time.Duration) // when the master got a report, by attempt
		for tick := range uint64(240) {
			time.Sleep(250 * time.Millisecond)
			for attempt, timeout := range map[string]time.Duration{"default": 10 * time.Minute, "none": 0, "short": 10 * time.Second} {
				p.Add(attempt, reportOf(0.001, tick), timeout, time.Hour)
			}
			for _, r := range p.Flush(time.Now(), tick%4 == 3) {
				ages[r.AttemptId] = append(ages[r.AttemptId], time.Since(start))
			}
		}
		for attempt, want := range map[string]time.Duration{"default": 10 * time.Second, "none": 10 * time.Second, "short": time.Second} {
			all := ages[attempt]
			for i, age := range all[1:] {
				if silent := age - all[i]; silent > max(time.Second, min(want, age/10+250*time.Millisecond)) {
					t.Errorf("%s: silent for %v until %v", attempt, silent, age)
				}
			}
			if most := map[bool]int{true: 65, false: 40}[want == time.Second]; len(all) > most {
				t.Errorf("%s: %d reports in a minute, want at most %d", attempt, len(all), most)
			}
		}
	})
}

// TestHiddenProgressIsSentWithOtherReports sends hidden progress early with a heartbeat or with
// the report of another attempt, but not too early.
func TestHiddenProgressIsSentWithOtherReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p PendingProgress
		p.Add("a", reportOf(0.5, 1), 0, time.Hour)
		wantSent(t, "the first report", &p, "a0.5")
		p.Add("a", reportOf(0.5, 2), 0, time.Hour)
		if early := p.Flush(time.Now(), true); len(early) != 0 {
			t.Errorf("at once with a heartbeat: %v", early)
		}
		time.Sleep(minInterval / 2)
		wantSent(t, "alone", &p, "")
		p.Add("b", reportOf(0.1, 1), 0, time.Hour)
		wantSent(t, "with a report of another attempt", &p, "a0.5 b0.1")
		p.Add("a", reportOf(0.5, 3), 0, time.Hour)
		time.Sleep(minInterval / 2)
		wantSent(t, "alone again", &p, "")
		if sent := p.Flush(time.Now(), true); len(sent) != 1 || sent[0].AttemptId != "a" {
			t.Errorf("with a heartbeat: %v", sent)
		}
	})
}

// TestShortAttemptsReportWithHeartbeats runs an attempt of 10 s, which progresses by a percent
// every 100 ms. Its reports need no messages of their own.
func TestShortAttemptsReportWithHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p PendingProgress
		alone, joined := 0, 0
		for tick := range uint64(20) {
			p.Add("a", reportOf(float64(tick)/20, tick), 0, time.Hour)
			joined += len(p.Flush(time.Now(), tick%2 == 0))
			time.Sleep(250 * time.Millisecond)
			alone += len(p.Flush(time.Now(), false))
			time.Sleep(250 * time.Millisecond)
		}
		if alone != 0 || joined != 10 {
			t.Errorf("%d reports alone, %d with a heartbeat", alone, joined)
		}
	})
}

// TestProbedProgressIsSentAtOnce probes for a report that would otherwise be sent much
// later.
func TestProbedProgressIsSentAtOnce(t *testing.T) {
	var p PendingProgress
	p.Add("a", new(taskproc.Progress), 0, time.Hour)
	if p.answersProbe("a") {
		t.Error("sent before the probe")
	}
	p.expect("a")
	p.expect("b")
	if !p.answersProbe("a") || p.answersProbe("a") || !p.answersProbe("b") {
		t.Error("a probe sends one report")
	}
	p.expect("a")
	if p.Drop("a"); p.answersProbe("a") {
		t.Error("an ended attempt answers a probe")
	}
}

// TestFetchedSurvivesReplacedProgress sends a report that says what has changed for an edge,
// and another that says nothing about it. The second arrives before the first is sent.
func TestFetchedSurvivesReplacedProgress(t *testing.T) {
	var p PendingProgress
	for _, fetched := range [][]*taskproc.Fetched{
		{{Edge: 0, Nodes: []byte{1}}, {Edge: 1, Nodes: []byte{1}}}, nil, {{Edge: 0, Nodes: []byte{3}}}, nil,
	} {
		p.Add("a", &taskproc.Progress{Fetched: fetched}, 0, time.Hour)
	}
	reports := p.Flush(time.Now(), false)
	if got := reports[0].GetProgress().Fetched; len(reports) != 1 || len(got) != 2 || got[0].Nodes[0] != 3 || got[1].Nodes[0] != 1 {
		t.Errorf("sent %v", reports)
	}
	p.Add("a", new(taskproc.Progress), 0, time.Hour)
	if again := p.Flush(time.Now(), false); len(again) != 0 {
		t.Errorf("sent again: %v", again)
	}
}

// TestSetsOfATaskAreBounded reports very many sets of fetched output. One of each edge that the
// attempt reads is kept, and the report never becomes longer than a task's own message.
func TestSetsOfATaskAreBounded(t *testing.T) {
	many := make([]*taskproc.Fetched, 1_000_000)
	for i := range many {
		many[i] = &taskproc.Fetched{Edge: int32(i % 1000), Nodes: []byte{byte(i % 256)}}
	}
	got := latestFetched(many, []int32{3, 7, 5000})
	if len(got) != 2 || got[0].Edge != 3 || got[1].Edge != 7 || got[1].Nodes[0] != byte(999_007%256) {
		t.Errorf("kept %v", got)
	}
	latest := new(taskproc.Progress)
	for edge := range int32(20) {
		next := &taskproc.Progress{Fetched: []*taskproc.Fetched{{Edge: edge, Nodes: make([]byte, 1<<20)}}}
		keepFetched(latest, next)
		latest = next
	}
	if n := proto.Size(latest); n > taskproc.MaxFromTaskBytes || len(latest.Fetched) != 7 || latest.Fetched[0].Edge != 19 {
		t.Errorf("a report has %d bytes with %d sets", n, len(latest.Fetched))
	}
}

// TestLongProgressIsSentInSeveralMessages sends the progress of attempts whose reports are as
// long as a task may make them. No message is longer than one of them.
func TestLongProgressIsSentInSeveralMessages(t *testing.T) {
	run(t, func(b *rig) {
		var reports []*wire.Report
		for n := range 12 {
			p := &taskproc.Progress{Phase: "map"}
			if n < 10 {
				p.Status = strings.Repeat("x", taskproc.MaxFromTaskBytes-1000)
			}
			reports = append(reports, &wire.Report{AttemptId: fmt.Sprint(n), Report: &wire.Report_Progress{Progress: p}})
		}
		b.daemon.inbox.Put(func() { b.daemon.sendJoined(reports) })
		synctest.Wait()
		var got []string
		for len(b.reports) > 0 {
			r := <-b.reports
			if n := proto.Size(r); n > taskproc.MaxFromTaskBytes {
				t.Errorf("a message of %d bytes", n)
			}
			if r.GetBatch() == nil {
				got = append(got, r.AttemptId)
			}
			for _, each := range r.GetBatch().GetReports() {
				got = append(got, each.AttemptId)
			}
		}
		if text := strings.Join(got, " "); text != "0 1 2 3 4 5 6 7 8 9 10 11" {
			t.Errorf("reports on %s", text)
		}
	})
}
