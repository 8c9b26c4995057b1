package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// Span is a range of durations. A task draws its own from it, uniformly.
type Span struct{ Least, Most time.Duration }

// Exactly is a Span of one duration.
func Exactly(d time.Duration) Span { return Span{d, d} }

// Job describes a job of fake tasks. It travels to the machines as the configuration of the
// job.
type Job struct {
	Maps, Reduces int
	Map, Reduce   Span   // durations of tasks; a reduce starts its own when all maps have finished
	FailPercent   int    // share of first attempts that fail
	Seed          uint64 // of durations and failures
}

// splitLength is the length of each map's input. It lets a map be split, like one that reads
// a file.
const splitLength = 1000

// Submit submits a job and registers it in the ledger. The job has no output directory, so
// its set-up and commit cost little.
func (f *Fleet) Submit(ctx context.Context, c client.Client, job Job) (id string, err error) {
	settings, err := json.Marshal(job)
	if err != nil {
		return "", err
	}
	g := dag.MapReduce(job.Maps, job.Reduces)
	spec := &wire.JobSpec{
		Name: fmt.Sprintf("fleet %d×%d", job.Maps, job.Reduces), Program: "fleet", User: "fleet", Config: settings,
		Reduces: int32(job.Reduces), Graph: taskproc.FromGraph(g), Fingerprint: g.Fingerprint(),
	}
	splits := make([]*taskproc.Split, job.Maps)
	for i := range splits {
		splits[i] = &taskproc.Split{Parts: []*taskproc.Split_Part{{Length: splitLength, FileSize: splitLength, Ordinal: int32(i)}}}
	}
	if id, err = c.Submit(ctx, spec, splits); err == nil {
		f.ledger.addTasks(id, job.Maps+job.Reduces)
	}
	return id, err
}

// fate is what happens to an attempt if it is left alone.
type fate struct {
	duration time.Duration
	fails    bool
}

// fateOf draws the fate of an attempt. It depends only on the attempt and the job's seed, so
// a run can be repeated.
func (j *Job) fateOf(start *taskproc.Start) fate {
	h := fnv.New64a()
	h.Write([]byte(start.AttemptId))
	r := rand.New(rand.NewPCG(j.Seed, h.Sum64()))
	span := j.Map
	if start.Kind == taskproc.Kind_REDUCE {
		span = j.Reduce
	}
	out := fate{duration: span.Least}
	if more := span.Most - span.Least; more > 0 {
		out.duration += time.Duration(r.Int64N(int64(more) + 1))
	}
	if start.Attempt == 0 && r.IntN(100) < j.FailPercent {
		out.fails, out.duration = true, out.duration/2
	}
	return out
}
