package workload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Spec describes a workload by distributions: classes of jobs, shuffled and then submitted
// one after the other.
//
//	arrival=exp:13s;class=small,jobs=53,maps=uniform:1:2;class=big,jobs=6,maps=const:900
//	└── of all jobs ┘└───────── a class ────────────────┘
type Spec struct {
	Arrival   Distribution // time between two bursts, ms; the first job arrives at 0
	Burst     int          // jobs that arrive at the same time; 0 is 1
	Pools     int          // jobs are assigned in turn to pool1, pool2, …; 0 is no pool
	SlowStart float64      // of every job, as Job.SlowStart
	Seed      uint64       // of all draws, if HasSeed
	HasSeed   bool
	Classes   []Class
}

// Class is a class of jobs. If Map or Reduce has no value, the Model computes times from
// the bytes. Distributions draw a value for each job (numbers of tasks) or for each task
// (times, bytes).
type Class struct {
	Name                  string
	Jobs                  int
	Maps, Reduces         Distribution // number of tasks of a job, rounded; at least 1 and 0
	Map, Reduce           Distribution // time of each task, ms
	MapBytes, ReduceBytes Distribution
}

// specKeys parse the keys of the whole spec, classKeys those of a class.
var (
	specKeys = map[string]func(*Spec, string) error{
		"arrival":   func(s *Spec, v string) error { return s.parseArrival(v) },
		"pools":     func(s *Spec, v string) (err error) { s.Pools, err = parseCount(v); return err },
		"slowstart": func(s *Spec, v string) (err error) { s.SlowStart, err = parseFraction(v); return err },
		"seed": func(s *Spec, v string) (err error) {
			s.Seed, err = strconv.ParseUint(v, 10, 64)
			s.HasSeed = true
			return err
		},
	}
	classKeys = map[string]func(*Class, string) error{
		"class":     func(c *Class, v string) error { c.Name = v; return nil },
		"jobs":      func(c *Class, v string) (err error) { c.Jobs, err = parseCount(v); return err },
		"maps":      func(c *Class, v string) (err error) { c.Maps, err = parseDistribution(v, parsePlain); return err },
		"reduces":   func(c *Class, v string) (err error) { c.Reduces, err = parseDistribution(v, parsePlain); return err },
		"map":       func(c *Class, v string) (err error) { c.Map, err = parseDistribution(v, parseMillis); return err },
		"reduce":    func(c *Class, v string) (err error) { c.Reduce, err = parseDistribution(v, parseMillis); return err },
		"map-bytes": func(c *Class, v string) (err error) { c.MapBytes, err = parseDistribution(v, parseBytes); return err },
		"reduce-bytes": func(c *Class, v string) (err error) {
			c.ReduceBytes, err = parseDistribution(v, parseBytes)
			return err
		},
	}
)

// ParseSpec parses a spec: keys with values, separated by commas, and classes of jobs after
// semicolons or on lines of their own, such as
//
//	jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3
//
// or the name of one of presets. Keys before the first class apply to all classes.
// docs/sim.md lists keys and distributions. source names the text in errors.
func ParseSpec(source, text string) (*Spec, error) {
	if preset, found := presets[strings.TrimSpace(text)]; found {
		text = preset
	}
	s := &Spec{SlowStart: -1}
	// Keys of the first part without jobs are the base of all classes.
	base := Class{MapBytes: constant(DefaultBlockBytes), ReduceBytes: constant(64 << 20)}
	var f problems
	for i, part := range specParts(text) {
		c := base
		part.source = source
		given := s.parsePart(&c, i, part, &f)
		if i == 0 && !given["jobs"] {
			base = c // applies to all classes
			continue
		}
		s.Classes = append(s.Classes, c)
	}
	if len(f.errs) == 0 { // otherwise a missing value may be an invalid one
		s.validate(source, &f)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// specPart is the text between two semicolons or ends of lines. Its line is for errors;
// specs on a command line have one line.
type specPart struct {
	source string
	line   int
	text   string
}

// specParts lists the parts of a spec that are not empty. Lines count from 1.
func specParts(text string) (parts []specPart) {
	for n, line := range strings.Split(text, "\n") {
		for _, part := range strings.Split(line, ";") {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, specPart{line: n + 1, text: part})
			}
		}
	}
	return parts
}

// parsePart parses the keys of one part, and returns the set of keys. number is the number
// of the part, from 0: keys of the whole spec are allowed in the first one only.
func (s *Spec) parsePart(c *Class, number int, part specPart, f *problems) map[string]bool {
	given := make(map[string]bool)
	for _, pair := range strings.Split(part.text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if pair == "" {
			continue
		}
		var err error
		switch whole, ofClass := specKeys[key], classKeys[key]; {
		case !found:
			err = errors.New("no value, expected KEY=VALUE")
		case given[key]:
			err = errors.New("repeated, expected once")
		case whole != nil && number > 0:
			err = errors.New("after a semicolon, expected before the first one: it applies to all classes")
		case whole != nil:
			err = whole(s, value)
		case ofClass != nil:
			err = ofClass(c, value)
		default:
			err = fmt.Errorf("unknown, expected one of %s", keyNames)
		}
		if err != nil {
			f.add("%s:%d: spec key %q: %w", part.source, part.line, key, err)
		}
		given[key] = true
	}
	return given
}

const keyNames = "jobs, arrival, maps, reduces, map, reduce, map-bytes, reduce-bytes, class, pools, slowstart, seed"

// validate checks what no single key can: that there are arrivals, jobs and maps.
func (s *Spec) validate(source string, f *problems) {
	f.check(s.Arrival.kind != nil, "%s:1: spec without arrival, expected one like arrival=exp:13s", source)
	f.check(len(s.Classes) > 0, "%s:1: spec without jobs, expected a number like jobs=100", source)
	jobs := 0
	for _, c := range s.Classes {
		f.check(c.Jobs >= 1 && c.Maps.kind != nil, "%s:1: spec of class %q with %d jobs, expected at least 1, and maps like maps=const:10", source, c.Name, c.Jobs)
		jobs = min(jobs+c.Jobs, MaxTasks+1)
	}
	f.check(jobs <= MaxTasks, "%s:1: spec of more than %d jobs, which is the limit", source, MaxTasks)
}

// parseArrival parses a distribution of times, or burst:N and a distribution.
// burst:5:exp:1m is five jobs at a time, a minute apart on average.
func (s *Spec) parseArrival(text string) (err error) {
	s.Burst = 1
	if rest, found := strings.CutPrefix(text, "burst:"); found {
		n, law, _ := strings.Cut(rest, ":")
		if s.Burst, err = parseCount(n); err != nil {
			return fmt.Errorf("%w in burst:N:DISTRIBUTION", err)
		}
		text = law
	}
	s.Arrival, err = parseDistribution(text, parseMillis)
	return err
}

// parseCount parses a number of jobs or pools.
func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxTasks {
		return 0, fmt.Errorf("number %q, expected 1 to %d", text, MaxTasks)
	}
	return n, nil
}

// parseFraction parses a number from 0 to 1.
func parseFraction(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return 0, fmt.Errorf("number %q, expected 0 to 1", text)
	}
	return x, nil
}

// constant returns a distribution that always draws x. const is the first kind.
func constant(x float64) Distribution { return Distribution{&distributionKinds[0], []float64{x}} }

// presets are specs with the quotas of the HFSP paper's two workloads: numbers of jobs in
// each class, log-uniform numbers of tasks within the class's bounds (a bounded Pareto
// distribution with a tiny ALPHA), and mean bytes of reduces as in the public traces. They
// replace the traces where those are not at hand.
//
// research has the times of tasks of three research clusters (Carnegie Mellon's "Hadoop Workload
// Analysis", traces of OpenCloud, M45 and a web mining cluster), as Chronos' paper gives them: maps
// from 2 to 84,631 s and reduces from 9 to 81,714 s (section 3.1), 124 and 901 s on average (section
// 7). ALPHA is the one with this mean within these bounds. The paper has no numbers of jobs, tasks
// and arrivals: these are chosen for a load of about a half on 100 machines with 4 and 2 slots. Each
// task draws its own time, while tasks of a real job resemble each other.
var presets = map[string]string{
	"fb2009": `arrival=exp:13s
class=small,jobs=53,maps=uniform:1:2,map-bytes=exp:64k
class=medium,jobs=41,maps=pareto:0.01:3:499,reduces=pareto:0.01:1:200,reduce-bytes=exp:46m
class=big,jobs=6,maps=pareto:0.01:500:3000,reduces=pareto:0.01:10:200,reduce-bytes=exp:165m`,
	"fb2010": `arrival=exp:38s
class=expand,jobs=39,maps=pareto:0.01:401:1500,reduces=const:10,reduce-bytes=exp:8m
class=expand_transform,jobs=16,maps=pareto:0.01:401:1500,reduces=uniform:11:100,reduce-bytes=exp:60m
class=transform_s,jobs=11,maps=pareto:0.01:401:1500,reduces=uniform:101:200,reduce-bytes=exp:390m
class=aggregate,jobs=10,maps=pareto:0.01:1501:2500,reduces=uniform:10:100,reduce-bytes=exp:42m
class=transform_m,jobs=7,maps=pareto:0.01:1501:2500,reduces=uniform:101:200,reduce-bytes=exp:1.1g
class=transform_l,jobs=10,maps=pareto:0.01:2501:5000,reduces=uniform:101:200,reduce-bytes=exp:2.6g`,
	"research": `arrival=exp:2m,jobs=100,maps=pareto:0.01:1:500,reduces=pareto:0.01:1:50,map=pareto:0.6804:2s:84631s,reduce=pareto:0.4907:9s:81714s`,
}
