package registry

import (
	"cmp"
	"errors"
	"math"
	"strconv"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/hfsp"
	"github.com/hammr/hammr/sched/pool"
)

// hadoopHFSP is the prefix of settings that Hadoop's HFSP has too.
const hadoopHFSP = "mapred.hfsp-scheduler."

func newHFSP(conf map[string]string, setup sched.Setup) (sched.Policy, error) {
	s := settings{policy: "hfsp", conf: conf}
	c := s.hfsp(setup)
	c.Placement, c.Preempt = setup.Placement, s.hfspPreempt(setup.Preempt)
	if err := s.err(); err != nil {
		return nil, err
	}
	return hfsp.New(c), nil
}

// hfsp reads the settings that HFSP's order depends on.
func (s *settings) hfsp(setup sched.Setup) hfsp.Config {
	c := hfsp.Config{
		Estimator:   s.estimator(setup.Oracle),
		DeltaMillis: s.millisOrNever(hadoopHFSP + "sojourn-trainer.reduce.time"),
	}
	for kind, name := range [2]string{"map", "reduce"} {
		c.Samples[kind] = s.count(hadoopHFSP + "trainer.min-" + name + "s")
		c.TrainSlots[kind] = s.slots(hadoopHFSP + "train-" + name + "-slots")
		c.UnknownSizeFactor[kind] = s.doubt(hadoopHFSP + "duration-modifier-" + name)
		c.InitialMillis[kind] = int64(s.count(hadoopHFSP + "initial-" + name + "-duration"))
	}
	return c
}

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
	size := s.amount("hammr.hfsp.size-error")
	seed := parsed(s, "hammr.hfsp.seed", "a whole number", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
	if size == 0 {
		return e
	}
	return hfsp.NoisyEstimator{Estimator: cmp.Or[hfsp.Estimator](e, hfsp.Mean{}), Error: size, Law: law, Seed: seed}
}

// rankers returns the orders that pools may have in addition to those of the policy
// itself. An order that no pool uses is left out, since keeping it up to date costs
// time.
func rankers(a *pool.Allocations) map[pool.Order]sched.Ranker {
	if a == nil || !a.UsesOrder(pool.HFSP) {
		return nil
	}
	return map[pool.Order]sched.Ranker{pool.HFSP: hfsp.NewRanker(hfsp.Config{})}
}

// hfspPreempt reads how slots are taken. Eager waits for maps and suspends reduces, as in
// the paper (section 4).
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

// millisOrNever reads a whole number above 0; 0 if it is not set, -1 for never.
func (s *settings) millisOrNever(name string) int64 {
	return parsed(s, name, "a whole number above 0, or never", func(text string) (int64, error) {
		if text == "never" {
			return -1, nil
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 || n > 1e15 {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}

// count reads a whole number above 0; 0 if it is not set.
func (s *settings) count(name string) int {
	return parsed(s, name, "a whole number above 0", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 || n > 1e9 {
			return 0, errors.New("out of range")
		}
		return n, nil
	})
}

// slots reads a number of slots. A setting of 0 is returned as -1, since 0 means that
// it is not set.
func (s *settings) slots(name string) int {
	return parsed(s, name, "a whole number", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 1e9 {
			return 0, errors.New("out of range")
		}
		if n == 0 {
			n = -1
		}
		return n, nil
	})
}

func (s *settings) doubt(name string) float64 {
	return parsed(s, name, "a number of 1 or more, or inf", func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x >= 1) {
			return 0, errors.New("out of range")
		}
		return x, nil
	})
}

// amount reads a number from 0 to 10.
func (s *settings) amount(name string) float64 {
	return parsed(s, name, "a number from 0 to 10", func(text string) (float64, error) {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || x < 0 || x > 10 {
			return 0, errors.New("out of range")
		}
		return x, nil
	})
}
