package apidoc

import "testing"

// TestDrainEstimates computes rates, the time that is left, and what users read.
func TestDrainEstimates(t *testing.T) {
	left := func(attempts, outputs, checkpoints, bytes int64) DrainCounts {
		return DrainCounts{Attempts: attempts, Outputs: outputs, Checkpoints: checkpoints, Bytes: bytes}
	}
	for _, c := range []struct {
		what                 string
		left                 DrainCounts
		moved, bytes, millis int64
		wantLeft             int64
		wantRate             float64
		text                 string
	}{
		{"by bytes", left(0, 3, 1, 6<<20), 10, 30 << 20, 30_000, 6000, 1 << 20, "10 moved (30 MiB), 1 MiB/s; about 6s left, at the bytes per second of the last 30 s"},
		{"of a short time", left(0, 1, 0, 500), 1, 1000, 2000, 1000, 500, "1 moved (0.977 KiB), 500 B/s; about 1s left, at the bytes per second of the last 2 s"},
		{"by items, as they have no bytes", left(0, 3, 0, 0), 6, 0, 30_000, 15_000, 0, "6 moved (0 B), 0.2/s; about 15s left, at the outputs and checkpoints per second of the last 30 s"},
		{"with attempts", left(2, 1, 0, 1000), 1, 30_000, 30_000, 1000, 1000, "1 moved (29.3 KiB), 0.977 KiB/s; about 1s left, at the bytes per second of the last 30 s, without what the running attempts will leave"},
		{"that stands", left(0, 1, 0, 1000), 0, 0, 30_000, 0, 0, "0 moved (0 B); nothing was moved in the last 30 s"},
		{"of attempts only", left(1, 0, 0, 0), 0, 0, 30_000, 0, 0, "0 moved (0 B); only attempts are left, and how long they run is not known"},
		{"at its end", left(0, 0, 0, 0), 2, 3000, 30_000, 0, 100, "2 moved (2.93 KiB), 100 B/s; nothing is left"},
		{"of nothing known", DrainCounts{}, 0, 0, 0, 0, 0, "0 moved (0 B); nothing is left"},
	} {
		d := Drain{Left: c.left, Moved: c.moved, MovedBytes: c.bytes, RateMillis: c.millis}
		d.Estimate(c.moved, c.bytes)
		if d.LeftMillis != c.wantLeft || d.BytesPerSecond != c.wantRate || d.Text() != c.text {
			t.Errorf("%s: %d ms, %v B/s, %q; want %d, %v, %q", c.what, d.LeftMillis, d.BytesPerSecond, d.Text(), c.wantLeft, c.wantRate, c.text)
		}
	}
}
