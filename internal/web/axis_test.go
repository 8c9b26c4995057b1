package web

import (
	"testing"
)

func TestTicksOfNumbers(t *testing.T) {
	here := func(v float64) float64 { return v }
	for _, c := range []struct {
		scale   scale
		highest float64
		want    string
	}{
		{countScale, .3, "0 0.1 0.2 0.3"},
		{countScale, 1, "0 1"},
		{countScale, 2, "0 1 2"},
		{countScale, 4, "0 1 2 3 4"},
		{countScale, 7, "0 2 4 6"},
		{countScale, 33, "0 10 20 30"},
		{countScale, 1024, "0 500 1\u202f000"},
		{byteScale, 3 << 20, "0 B 1 MiB 2 MiB 3 MiB"},
		{durationScale, 20_000, "0 5.0 s 10.0 s 15.0 s 20.0 s"},
		{durationScale, 600_000, "0 2 min 4 min 6 min 8 min 10 min"},
	} {
		got := ""
		for i, each := range c.scale.ticks(c.highest, here) {
			if i > 0 {
				got += " "
			}
			got += each.Text
			if each.At > c.highest*1.001 {
				t.Errorf("up to %v: a tick at %v", c.highest, each.At)
			}
		}
		if got != c.want {
			t.Errorf("up to %v: %q, want %q", c.highest, got, c.want)
		}
	}
}

func TestTicksOfClock(t *testing.T) {
	const hour = 3_600_000
	for _, c := range []struct {
		from, to    int64
		first, last string
		n           int
	}{
		{0, 24 * hour, "00:00", "00:00", 9}, {hour / 2, 2*hour + hour/2, "00:30", "02:30", 5}, {0, 600_000, "00:00", "00:10", 6},
		{500, 8500, "00:00:01", "00:00:08", 8}, {0, 20, "00:00:00.000", "00:00:00.020", 5}, {0, 96 * hour, "1970-01-01", "1970-01-05", 5},
	} {
		got := newClock(c.from, c.to).ticks(c.from, c.to, func(at int64) float64 { return float64(at) })
		if len(got) != c.n || got[0].Text != c.first || got[len(got)-1].Text != c.last {
			t.Errorf("%d to %d: %+v", c.from, c.to, got)
		}
	}
}
