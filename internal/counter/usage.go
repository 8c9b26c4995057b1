package counter

import (
	"runtime/metrics"
	"time"
)

// readUsage measures this process. What the platform does not tell is 0.
func readUsage() usage {
	u := systemUsage()
	samples := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	if samples[0].Value.Kind() == metrics.KindFloat64 {
		u.gc = time.Duration(samples[0].Value.Float64() * float64(time.Second))
	}
	for _, s := range samples[1:] {
		if s.Value.Kind() == metrics.KindUint64 {
			u.heapCommitted += int64(s.Value.Uint64())
		}
	}
	return u
}
