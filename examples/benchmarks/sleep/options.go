package sleep

import (
	"fmt"
	"time"

	"github.com/hammr/hammr/examples/internal/arguments"
	"github.com/hammr/hammr/mr"
)

// options are the arguments of Hadoop's SleepJob. Times are in milliseconds.
type options struct {
	maps       int64
	reduces    int64 // number of reduces; -1 for the default of the property
	mapTime    int64 // duration of a whole map
	reduceTime int64
	recordTime int64 // duration of one record or group
}

func parseOptions(args []string) (options, error) {
	o := options{maps: 1, reduces: -1, mapTime: 100, reduceTime: 100, recordTime: 100}
	if len(args) == 0 {
		return o, mr.ErrUsage
	}
	err := arguments.Options{
		"-m":       arguments.Number(&o.maps, 1),
		"-r":       arguments.Number(&o.reduces, 0),
		"-mt":      arguments.Number(&o.mapTime, 0),
		"-rt":      arguments.Number(&o.reduceTime, 0),
		"-recordt": arguments.Number(&o.recordTime, 1),
	}.ParseAll(args)
	return o, err
}

// run returns the JobRun for the options.
func (o *options) run() mr.JobRun {
	c := Config{
		MapTime:    time.Duration(o.mapTime) * time.Millisecond,
		ReduceTime: time.Duration(o.reduceTime) * time.Millisecond,
		Records:    max(o.parts(o.mapTime), 1),
		Groups:     o.parts(o.reduceTime),
	}
	set := map[string]string{mapsProperty: fmt.Sprint(o.maps), recordsProperty: fmt.Sprint(c.Records)}
	if o.reduces >= 0 {
		set["mapreduce.job.reduces"] = fmt.Sprint(o.reduces)
	}
	return mr.JobRun{Config: c, Set: set}
}

// parts returns the number of records or groups into which a time is divided. The last one
// may be shorter.
func (o *options) parts(ms int64) int64 { return (ms + o.recordTime - 1) / o.recordTime }
