package bench

import "slices"

// Spread is the median of some figures and their range. The median is the result; the range
// shows how far single runs were apart.
type Spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf returns the spread of figures, and the zero Spread for no figures. The median of
// an even number of figures is the mean of the middle two.
func spreadOf(figures []float64) Spread {
	if len(figures) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(figures))
	n := len(sorted)
	return Spread{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Min: sorted[0], Max: sorted[n-1]}
}

// ratios returns one side's figures over the other's, round by round. An interrupted contest may
// have one round more on one side.
func ratios(over, under []float64) []float64 {
	var out []float64
	for i := range min(len(over), len(under)) {
		out = append(out, over[i]/under[i])
	}
	return out
}

// secondsOf returns the wall-clock times of the samples.
func secondsOf(samples []Sample) []float64 {
	var out []float64
	for _, s := range samples {
		out = append(out, s.Seconds)
	}
	return out
}

// usageOf returns the cost of daemons in the samples that have it: the busiest master's part
// of a core, and seconds of CPU time.
func usageOf(samples []Sample) (share, cpu []float64) {
	for _, s := range samples {
		if s.Cluster != nil {
			share, cpu = append(share, s.Cluster.MasterShare), append(cpu, s.Cluster.CPUSeconds)
		}
	}
	return share, cpu
}

// cpuOf returns the CPU times of the samples.
func cpuOf(samples []Sample) []float64 {
	var out []float64
	for _, s := range samples {
		out = append(out, s.CPUSeconds)
	}
	return out
}

// maxTreeRSS returns the greatest peak memory of all processes of a command together, 0 without
// samples. A sample of the tree may have missed the peak of its largest process.
func maxTreeRSS(samples []Sample) int64 {
	most := maxRSS(samples)
	for _, s := range samples {
		most = max(most, s.TreeRSSBytes)
	}
	return most
}

// maxRSS returns the greatest peak memory of a process, 0 without samples.
func maxRSS(samples []Sample) int64 {
	var most int64
	for _, s := range samples {
		most = max(most, s.MaxRSSBytes)
	}
	return most
}
