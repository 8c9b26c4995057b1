package analysis

import (
	"slices"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Usage is how many tasks had a slot over time. A task counts by its winner or, without one, by its
// latest attempt, so that the columns of a job suffice.
type Usage struct {
	From    int64     // start of the first task, ms since the epoch
	Step    int64     // length of a part, ms; 0 if no task has started
	Maps    []float64 // map slots, on average in each part
	Reduces []float64
}

// UsageOf returns the slots over time, in at most parts parts of the same length. now is in ms since
// the epoch.
func UsageOf(c *apidoc.TaskColumns, now int64, parts int) (u Usage) {
	var end int64
	for i, start := range c.Start {
		if start > 0 {
			if u.From == 0 || start < u.From {
				u.From = start
			}
			end = max(end, lastTime(c, i, now))
		}
	}
	if u.From == 0 {
		return u
	}
	u.Step = max(end-u.From, 1)/int64(parts) + 1
	n := int((end-u.From)/u.Step + 1)
	u.Maps, u.Reduces = make([]float64, n), make([]float64, n)
	for i, start := range c.Start {
		if start == 0 || c.Node[i] == 0 {
			continue
		}
		slots, last := u.Maps, lastTime(c, i, now)
		if c.Types[c.Stage[i]] == "REDUCE" {
			slots = u.Reduces
		}
		from, to := float64(max(start, last-c.Duration[i])-u.From)/float64(u.Step), float64(last-u.From)/float64(u.Step)
		for p := int(from); p < n && float64(p) < to; p++ {
			slots[p] += min(to, float64(p+1)) - max(from, float64(p))
		}
	}
	return u
}

// lastTime returns the end of a task, the present if it runs, or the end of its latest attempt if it
// waits again.
func lastTime(c *apidoc.TaskColumns, i int, now int64) int64 {
	switch {
	case c.End[i] > 0:
		return c.End[i]
	case c.States[c.State[i]] == "RUNNING":
		return max(now, c.Start[i])
	}
	return c.Start[i] + c.Duration[i]
}

// Forecast is how long a job takes still, if it keeps its slots.
type Forecast struct {
	Slots   int    `json:"slots"`      // tasks that run now
	Low     int64  `json:"lowMillis"`  // if each task takes as long as the p25 of the finished tasks of its stage
	High    int64  `json:"highMillis"` // likewise, p75
	Left    int    `json:"left"`       // tasks that have not finished
	Unknown string `json:"unknown"`    // why there is no forecast; "" if there is one
}

// ForecastOf forecasts when the tasks of a job finish.
//
// The stages are taken as running one after the other with all slots of the job. A stage without a
// finished task has nothing to go by, so there is no forecast before its first task has finished.
func ForecastOf(c *apidoc.TaskColumns) Forecast {
	var f Forecast
	stages := make([]struct {
		durations []int64
		ages      []int64 // of running tasks
		left      int
	}, len(c.Stages))
	for i := range c.Stage {
		s := &stages[c.Stage[i]]
		switch {
		case c.End[i] > 0:
			s.durations = append(s.durations, c.Duration[i])
			continue
		case c.Start[i] > 0 && c.States[c.State[i]] == "RUNNING":
			s.ages = append(s.ages, c.Duration[i])
			f.Slots++
		}
		s.left++
		f.Left++
	}
	switch {
	case f.Left == 0:
		f.Unknown = "all tasks have finished"
		return f
	case f.Slots == 0:
		f.Unknown = "no task runs now"
		return f
	}
	for i := range stages {
		s := &stages[i]
		if s.left == 0 {
			continue
		}
		if len(s.durations) == 0 {
			f.Unknown = "no " + taskOf(c.Stages[i]) + " has finished yet"
			f.Low, f.High = 0, 0
			return f
		}
		slices.Sort(s.durations)
		low, high := quantile(s.durations, .25), quantile(s.durations, .75)
		f.Low, f.High = f.Low+remaining(low, s.ages, s.left, f.Slots), f.High+remaining(high, s.ages, s.left, f.Slots)
	}
	return f
}

// remaining returns how long slots need for the tasks of a stage that are left, if each takes a
// duration. Those that run have the given ages.
func remaining(duration int64, ages []int64, left, slots int) int64 {
	work, longest := duration*int64(left-len(ages)), int64(0)
	for _, age := range ages {
		rest := max(0, duration-age)
		work, longest = work+rest, max(longest, rest)
	}
	if left > len(ages) {
		longest = max(longest, duration)
	}
	return max(work/int64(slots), longest)
}

// taskOf returns what users call a task of a stage, given its code.
func taskOf(stage string) string {
	switch stage {
	case "m":
		return "map"
	case "r":
		return "reduce"
	}
	return "task of stage " + stage
}
