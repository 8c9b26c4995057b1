package console

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const mib = 1 << 20

func TestBarIsRedrawnOnOneLine(t *testing.T) {
	c, out, clock := newConsole(Options{Terminal: true, Width: func() int { return 100 }})
	c.Running("job_1_0001")
	out.Reset()
	step := func(d time.Duration, p Progress) string {
		out.Reset()
		clock.advance(d)
		c.Progress(p)
		return out.String()
	}

	checkText(t, step(100*time.Millisecond, Progress{BytesTotal: 1024 * mib}), "")
	checkText(t, step(900*time.Millisecond, Progress{Map: 0.25, BytesDone: 128 * mib, BytesTotal: 1024 * mib}),
		"\r\x1b[K map  25% reduce   0% ▕████                            ▏ 128 MiB of 1.0 GiB  142 MiB/s  6s left")
	checkText(t, step(10*time.Millisecond, Progress{Map: 0.3, BytesDone: 129 * mib, BytesTotal: 1024 * mib}), "")
	checkText(t, step(990*time.Millisecond, Progress{Map: 0.5, BytesDone: 260 * mib, BytesTotal: 1024 * mib}),
		"\r\x1b[K map  50% reduce   0% ▕████████▏                       ▏ 260 MiB of 1.0 GiB  137 MiB/s  6s left")

	out.Reset()
	c.Splits(3)
	checkText(t, out.String(), "\r\x1b[K2026-11-21 11:14:24,123 INFO mapreduce.JobSubmitter: number of splits:3\n")
	out.Reset()
	c.Completed("job_1_0001")
	if strings.Contains(out.String(), eraseLine) {
		t.Errorf("erased twice: %q", out)
	}
}

func TestBarWithoutBytesUsesTaskProgress(t *testing.T) {
	var b bar
	start := newClock().now
	b.reset(start)
	got := b.line(start.Add(10*time.Second), Progress{Map: 0.25, MapsOnly: true}, 60)
	checkText(t, got, " map  25% ▕████████                        ▏ 30s left")
	got = b.line(start.Add(10*time.Second), Progress{}, 60)
	checkText(t, got, " map   0% reduce   0% ▕                               ▏ 10s")
}

func TestBarNeverWraps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bar
		now := newClock().now
		b.reset(now)
		width := rapid.IntRange(1, 200).Draw(t, "width")
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1e10).Draw(t, "wait")))
			p := Progress{
				Map:        rapid.Float64().Draw(t, "map"),
				Reduce:     rapid.SampledFrom([]float64{0, 0.5, 1, 2, -1, math.NaN(), math.Inf(1)}).Draw(t, "reduce"),
				BytesDone:  rapid.Int64Min(0).Draw(t, "done"),
				BytesTotal: rapid.Int64Min(0).Draw(t, "total"),
			}
			frame := strings.TrimPrefix(b.frame(now, p, width), eraseLine)
			if n := utf8.RuneCountInString(frame); n >= max(width, 2) {
				t.Fatalf("%d columns in a terminal of %d: %q", n, width, frame)
			}
		}
	})
}

func TestRateCoversTheLatestSpan(t *testing.T) {
	var r rate
	now := newClock().now
	for i := range 20 {
		r.add(now.Add(time.Duration(i)*time.Second), int64(i)*100)
	}
	for i := range 10 {
		r.add(now.Add(time.Duration(20+i)*time.Second), 2000+int64(i)*500)
	}
	if got := r.perSecond(); got != 500 {
		t.Errorf("rate after the change = %v, want 500", got)
	}
	if n := len(r.samples); n > 8 {
		t.Errorf("%d samples kept", n)
	}
	r.add(now.Add(30*time.Second), 0)
	if got := r.perSecond(); got != 0 {
		t.Errorf("rate after lost work = %v, want unknown", got)
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 KiB", 10 * 1024: "10 KiB", 1000 * mib: "1.0 GiB",
		999 * mib: "999 MiB", 1536 * mib: "1.5 GiB", math.MaxInt64: "8192 PiB",
	} {
		if got := BytesText(n); got != want {
			t.Errorf("BytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
