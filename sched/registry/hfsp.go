package registry

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/hfsp"
)

// hadoopHFSP is the prefix of settings that Hadoop's HFSP has too.
const hadoopHFSP = "mapred.hfsp-scheduler."

// UserShareTimeout is the setting of policy hfsp for how long, in ms, a user may be below its
// share of the slots.
const UserShareTimeout = "hammr.hfsp.user.share.timeout"

// newHFSP reads the settings of HFSP. Settings that also exist in the HFSP authors' scheduler
// for Hadoop have the same names and meaning; package hfsp lists them.
func newHFSP(s *Settings, setup sched.Setup) sched.Policy {
	c := hfsp.Config{
		Placement:    setup.Placement,
		Preempt:      s.hfspPreempt(setup.Preempt),
		Estimator:    s.Estimator(setup),
		ShareMillis:  s.Integer(UserShareTimeout, aboveZero, 1, 1e15),
		MaxSuspended: s.slots("hammr.hfsp.suspended.max"),
		DeltaMillis:  s.MillisOrNever(hadoopHFSP + "sojourn-trainer.reduce.time"),
	}
	for kind, name := range [2]string{"map", "reduce"} {
		c.Samples[kind] = int(s.Integer(hadoopHFSP+"trainer.min-"+name+"s", aboveZero, 1, 1e9))
		c.TrainSlots[kind] = s.slots(hadoopHFSP + "train-" + name + "-slots")
		c.UnknownSizeFactor[kind] = s.Float(hadoopHFSP+"duration-modifier-"+name, "a number of 1 or more, or inf", 1, math.Inf(1))
		c.InitialMillis[kind] = s.Integer(hadoopHFSP+"initial-"+name+"-duration", aboveZero, 1, 1e9)
	}
	return hfsp.New(c)
}

const (
	estimatorSetting = "hammr.hfsp.estimator"
	defaultEstimator = "mean"
)

func init() {
	RegisterEstimator(defaultEstimator, func(*Settings, sched.Setup) hfsp.Estimator { return hfsp.Mean{} })
	RegisterEstimator("lognormal", func(*Settings, sched.Setup) hfsp.Estimator { return hfsp.Lognormal{} })
	RegisterEstimator("oracle", func(s *Settings, setup sched.Setup) hfsp.Estimator {
		if setup.Oracle == nil {
			s.Refuse(estimatorSetting, "another one: only a simulator knows sizes")
		}
		return hfsp.Oracle(setup.Oracle)
	})
}

// Estimator reads the settings of the statistics that predict the size of a job (HFSP,
// section 3.2), and of the errors that experiments add to it. It is for policies that order jobs by size.
func (s *Settings) Estimator(setup sched.Setup) hfsp.Estimator {
	made := Parsed(s, estimatorSetting, "one of "+strings.Join(estimators.names(), ", "), estimators.find)
	if made == nil {
		made = estimators.all[defaultEstimator]
	}
	e := made(s, setup)
	law := Parsed(s, "hammr.hfsp.size-error-law", "lognormal or uniform", func(text string) (hfsp.Law, error) {
		if law := hfsp.Law(text); law == hfsp.LognormalLaw || law == hfsp.UniformLaw {
			return law, nil
		}
		return "", errors.New("unknown")
	})
	size := s.Float("hammr.hfsp.size-error", "a number from 0 to 10", 0, 10)
	seed := Parsed(s, "hammr.hfsp.seed", "a whole number", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
	if size == 0 {
		return e
	}
	return hfsp.NoisyEstimator{Estimator: e, Error: size, Law: law, Seed: seed}
}

// hfspPreempt reads the settings for taking slots. Eager waits for maps and suspends
// reduces, as in the paper (section 3.4): reduces may be orders of magnitude longer than
// maps.
func (s *Settings) hfspPreempt(config preempt.Config) preempt.Config {
	modes := Parsed(s, hadoopHFSP+"preemption-strategy", "eager, wait or kill", func(text string) ([2]preempt.Mode, error) {
		modes, known := map[string][2]preempt.Mode{
			"eager": {preempt.Wait, preempt.Suspend}, "wait": {preempt.Wait, preempt.Wait}, "kill": {preempt.Kill, preempt.Kill},
		}[text]
		if !known {
			return modes, errors.New("unknown")
		}
		return modes, nil
	})
	if modes[0] != "" {
		config.Map, config.Reduce = modes[0], modes[1]
	}
	return config
}

// slots reads a number of slots. It returns -1 for a setting of 0, since a result of 0 means
// the default.
func (s *Settings) slots(name string) int {
	n := s.Integer(name, "a whole number", 0, 1e9)
	if n == 0 && s.conf[name] != "" {
		return -1
	}
	return int(n)
}
