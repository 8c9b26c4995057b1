package paper

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/hammr/hammr/sim/workload"
)

// taskBatch is equal tasks of a job. Bytes of a map are its block; those of a reduce are
// what it fetches.
type taskBatch struct {
	n       int
	seconds float64 // mean of a task
	bytes   int64   // of a task
}

// jobMix is a workload of a few jobs. Its noise is lognormal with mean 1; that of a job
// depends only on the seed and the job's name. So a job has the same tasks in all
// experiments with that seed, whatever other jobs there are.
type jobMix struct {
	name  string
	sigma float64 // of the times of tasks
	jobs  []jobSpec
}

type jobSpec struct {
	id, pool     string
	at           float64 // s
	maps         taskBatch
	reduces      taskBatch
	afterAllMaps bool // reduces start after all maps; otherwise as in Hadoop
}

// source makes the workload of a seed.
func (m jobMix) source() Source {
	return func(seed uint64) (*workload.Workload, error) {
		w := &workload.Workload{Name: m.name}
		for _, j := range m.jobs {
			w.Jobs = append(w.Jobs, j.job(seed, m.sigma))
		}
		return w, nil
	}
}

// job draws the times of its tasks, maps before reduces.
func (j jobSpec) job(seed uint64, sigma float64) workload.Job {
	name := fnv.New64a()
	name.Write([]byte(j.id)) // never fails
	draw := rand.New(rand.NewPCG(seed, name.Sum64()))
	slowStart := -1.0
	if j.afterAllMaps {
		slowStart = 1
	}
	return workload.Job{
		ID: j.id, Pool: j.pool, Submit: int64(j.at * 1000), SlowStart: slowStart,
		Maps: j.maps.tasks(draw, sigma), Reduces: j.reduces.tasks(draw, sigma),
	}
}

// tasks draws the times of a batch. The term with sigma squared makes the mean of the noise
// 1, so that sigma does not change the load.
func (b taskBatch) tasks(draw *rand.Rand, sigma float64) []workload.Task {
	tasks := make([]workload.Task, b.n)
	for i := range tasks {
		noise := math.Exp(sigma*draw.NormFloat64() - sigma*sigma/2)
		tasks[i] = workload.Task{Millis: int64(b.seconds * 1000 * noise), Bytes: b.bytes}
	}
	return tasks
}
