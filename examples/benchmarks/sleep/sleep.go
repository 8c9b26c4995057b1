// Package sleep occupies slots without work: its maps and reduces sleep. It serves to try
// out schedulers and to measure the cost of a task. It writes nothing.
//
//	hammr run sleep -m 10 -r 2 -mt 5000 -rt 3000     # milliseconds
//
// It counts as Hadoop's SleepJob does: a map sleeps in records of -recordt, a reduce in key
// groups of the same length, and every map emits one record for each group of every reduce.
// A map without time (-mt 0) still has one record, so that the reduces get their groups.
package sleep

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/hammr/hammr/mr"
)

// Config sets the durations of the sleeps and the number of their parts. It is encoded as
// JSON, with times in nanoseconds.
type Config struct {
	MapTime    time.Duration // sleep of each map
	ReduceTime time.Duration // sleep of each reduce
	Records    int64         // records of each map, at least 1
	Groups     int64         // groups of each reduce; 0 if it does not sleep
}

type nothing = struct{}

// work is the mapper. The records of all maps are numbered consecutively, so a number
// determines the place of the record in its map.
func work(t *mr.Task, number int64, _ nothing, out mr.Emitter[int64, nothing]) error {
	c := mr.ConfigOf[Config](t)
	record := number % c.Records
	if err := sleep(t, c.MapTime, record, c.Records); err != nil {
		return err
	}
	first, end := c.keys(record, int64(t.Reduces()))
	for key := first; key < end; key++ {
		out.Emit(key, nothing{})
	}
	return nil
}

// keys returns the range of keys that the record of a map emits. A map emits a key for each
// group of each reduce, divided evenly over its records. The first records get the
// remainder, one key each.
func (c *Config) keys(record, reduces int64) (first, end int64) {
	share, more := c.Groups*reduces/c.Records, c.Groups*reduces%c.Records
	first = share*record + min(record, more)
	end = first + share
	if record < more {
		end++
	}
	return first, end
}

// rest is the reducer. With n reduces, each gets every nth key.
func rest(t *mr.Task, key int64, _ iter.Seq[nothing], _ mr.Emitter[int64, nothing]) error {
	c := mr.ConfigOf[Config](t)
	return sleep(t, c.ReduceTime, key/int64(t.Reduces()), c.Groups)
}

// statusStep is the interval at which a sleep shows how much time is left.
const statusStep = 250 * time.Millisecond

// sleep sleeps for one of the equal parts into which all is divided. The last part includes
// the remainder. Task.Sleep reports progress, so a long sleep does not time out.
func sleep(t *mr.Task, all time.Duration, part, parts int64) error {
	one := all / time.Duration(parts)
	left := all - time.Duration(part)*one
	end := left - one
	if part == parts-1 {
		end = 0
	}
	for left > end {
		t.SetStatus("Sleeping... (%d) ms left", left.Milliseconds())
		step := min(left-end, statusStep)
		if err := t.Sleep(step); err != nil {
			return err
		}
		left -= step
	}
	return nil
}

// Job is the job whose tasks sleep.
var Job = mr.WithConfig(mr.New("sleep",
	newInput(),
	mr.MapFunc(work),
	mr.ReduceFunc(rest),
	mr.NullOutput[int64, nothing](),
).Partition(func(key int64, reduces int) int {
	return int(key % int64(reduces))
}), Config{Records: 1})

// The properties that pass two numbers to the input: the number of maps, which is exact here,
// and the number of records of each map.
const (
	mapsProperty    = "mapreduce.sleepjob.maps"
	recordsProperty = "mapreduce.sleepjob.map.sleep.count"
)

// input is an input without files: each map gets a range of numbers. It implements only
// Splits, and takes the other methods from mr.Numbers.
type input struct{ mr.Input[int64, nothing] }

func newInput() mr.Input[int64, nothing] { return input{mr.Numbers(recordsProperty)} }

// Splits implements mr.Input.
func (input) Splits(_ context.Context, env *mr.InputEnv) ([]mr.Split, error) {
	maps, err := count(env, mapsProperty)
	if err != nil {
		return nil, err
	}
	records, err := count(env, recordsProperty)
	if err != nil {
		return nil, err
	}
	splits := make([]mr.Split, maps)
	for i := range splits {
		splits[i].Parts = []mr.Part{{Start: int64(i) * records, Length: records, FileSize: maps * records}}
	}
	return splits, nil
}

// count reads a property that must be a whole number of at least 1.
func count(env *mr.InputEnv, property string) (int64, error) {
	text := env.Property(property)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: expected a whole number of at least 1; the options of sleep set it", property, text)
	}
	return n, nil
}

// Program returns the command.
func Program() *mr.Program {
	return &mr.Program{
		Name:    "sleep",
		Summary: "A map/reduce program that sleeps in each map and reduce task.",
		Usage: "[-m <maps>] [-r <reduces>] [-mt <map sleep time, ms>] [-rt <reduce sleep time, ms>]" +
			" [-recordt <record sleep time, ms>]",
		Jobs: []mr.Runnable{Job},
		Run: func(ctx context.Context, d *mr.Driver) error {
			o, err := parseOptions(d.Args)
			if err != nil {
				return err
			}
			return d.Run(ctx, Job, o.run())
		},
	}
}
