package registry

import (
	"cmp"
	"errors"
	"math"
	"strconv"

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
func newHFSP(s *settings, setup sched.Setup) sched.Policy {
	c := hfsp.Config{
		Placement:    setup.Placement,
		Preempt:      s.hfspPreempt(setup.Preempt),
		Estimator:    s.estimator(setup.Oracle),
		ShareMillis:  s.integer(UserShareTimeout, aboveZero, 1, 1e15),
		MaxSuspended: s.slots("hammr.hfsp.suspended.max"),
		DeltaMillis:  s.millisOrNever(hadoopHFSP + "sojourn-trainer.reduce.time"),
	}
	for kind, name := range [2]string{"map", "reduce"} {
		c.Samples[kind] = int(s.integer(hadoopHFSP+"trainer.min-"+name+"s", aboveZero, 1, 1e9))
		c.TrainSlots[kind] = s.slots(hadoopHFSP + "train-" + name + "-slots")
		c.UnknownSizeFactor[kind] = s.float(hadoopHFSP+"duration-modifier-"+name, "a number of 1 or more, or inf", 1, math.Inf(1))
		c.InitialMillis[kind] = s.integer(hadoopHFSP+"initial-"+name+"-duration", aboveZero, 1, 1e9)
	}
	return hfsp.New(c)
}

// estimator reads the settings of the statistics that predict the size of a job (HFSP,
// section 3.2), and of the errors that experiments add to it.
func (s *settings) estimator(oracle hfsp.Oracle) hfsp.Estimator {
	e := parsed(s, "hammr.hfsp.estimator", "mean, lognormal or oracle", func(text string) (hfsp.Estimator, error) {
		switch {
		case text == "mean":
			return hfsp.Mean{}, nil
		case text == "lognormal":
			return hfsp.Lognormal{}, nil
		case text == "oracle" && oracle != nil:
			return oracle, nil
		case text == "oracle":
			return nil, errors.New("only a simulator knows sizes")
		}
		return nil, errors.New("unknown")
	})
	law := parsed(s, "hammr.hfsp.size-error-law", "lognormal or uniform", func(text string) (hfsp.Law, error) {
		if law := hfsp.Law(text); law == hfsp.LognormalLaw || law == hfsp.UniformLaw {
			return law, nil
		}
		return "", errors.New("unknown")
	})
	size := s.float("hammr.hfsp.size-error", "a number from 0 to 10", 0, 10)
	seed := parsed(s, "hammr.hfsp.seed", "a whole number", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
	if size == 0 {
		return e
	}
	return hfsp.NoisyEstimator{Estimator: cmp.Or[hfsp.Estimator](e, hfsp.Mean{}), Error: size, Law: law, Seed: seed}
}

// hfspPreempt reads the settings for taking slots. Eager waits for maps and suspends
// reduces, as in the paper (section 3.4): reduces may be orders of magnitude longer than
// maps.
func (s *settings) hfspPreempt(config preempt.Config) preempt.Config {
	modes := parsed(s, hadoopHFSP+"preemption-strategy", "eager, wait or kill", func(text string) ([2]preempt.Mode, error) {
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
func (s *settings) slots(name string) int {
	n := s.integer(name, "a whole number", 0, 1e9)
	if n == 0 && s.conf[name] != "" {
		return -1
	}
	return int(n)
}
