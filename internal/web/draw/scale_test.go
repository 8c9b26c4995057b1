package draw

import "testing"

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
		got := NewClock(c.from, c.to, 8).Ticks(c.from, c.to, func(at int64) float64 { return float64(at) })
		if len(got) != c.n || got[0].Text != c.first || got[len(got)-1].Text != c.last {
			t.Errorf("%d to %d: %+v", c.from, c.to, got)
		}
	}
}
