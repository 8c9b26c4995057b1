package workload

import "math"

// OfferedLoad is the work that the jobs bring over the work that so many slots
// can do until the last of them arrives, for maps and for reduces. Above 1 the
// queue grows for as long as jobs come. Shuffles are no part of it, as they are
// none of a task's time. Work that meets no slot, or no time because all jobs
// arrive at 0, is +Inf; no work is 0.
func (w *Workload) OfferedLoad(mapSlots, reduceSlots int) (maps, reduces float64) {
	var mapWork, reduceWork float64
	for i := range w.Jobs {
		mapWork += float64(Sum(w.Jobs[i].Maps).Millis)
		reduceWork += float64(Sum(w.Jobs[i].Reduces).Millis)
	}
	span := float64(w.LastSubmit())
	return load(mapWork, span*float64(mapSlots)), load(reduceWork, span*float64(reduceSlots))
}

func load(work, capacity float64) float64 {
	switch {
	case work == 0:
		return 0
	case capacity <= 0:
		return math.Inf(1)
	}
	return work / capacity
}
