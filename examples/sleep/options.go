package sleep

import (
	"fmt"
	"strconv"
	"time"

	"github.com/hammr/hammr/mr"
)

// options are the arguments of Hadoop's SleepJob. Times are in milliseconds.
type options struct {
	maps       int64
	reduces    int64 // -1 when not given
	mapTime    int64
	reduceTime int64
	recordTime int64
}

func parseOptions(args []string) (options, error) {
	o := options{maps: 1, reduces: -1, mapTime: 100, reduceTime: 100, recordTime: 100}
	if len(args) == 0 {
		return o, mr.ErrUsage
	}
	for ; len(args) > 0; args = args[2:] {
		value, least := o.option(args[0])
		if value == nil {
			return o, fmt.Errorf("%w: %s is no option", mr.ErrUsage, args[0])
		}
		if len(args) == 1 {
			return o, fmt.Errorf("%w: option %s: a number is missing", mr.ErrUsage, args[0])
		}
		n, err := strconv.ParseInt(args[1], 10, 32)
		if err != nil || n < least {
			return o, fmt.Errorf("%w: option %s: %q is not a whole number of at least %d, or too large", mr.ErrUsage, args[0], args[1], least)
		}
		*value = n
	}
	return o, nil
}

// option is where the value of an option goes, and the least that it may be.
func (o *options) option(name string) (value *int64, least int64) {
	switch name {
	case "-m":
		return &o.maps, 1
	case "-r":
		return &o.reduces, 0
	case "-mt":
		return &o.mapTime, 0
	case "-rt":
		return &o.reduceTime, 0
	case "-recordt":
		return &o.recordTime, 1
	}
	return nil, 0
}

// run is what to run the job on.
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

// parts is how many records, or groups, a time is cut into.
func (o *options) parts(ms int64) int64 { return (ms + o.recordTime - 1) / o.recordTime }
