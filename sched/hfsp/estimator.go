package hfsp

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/hammr/hammr/cluster"
)

// Estimator estimates the size of phases. Its result depends on its arguments only.
type Estimator interface {
	// Size returns the sum of the times for which the tasks of a phase occupy a slot, in ms;
	// ok is false if it cannot estimate it. It is called when a phase begins, without
	// samples, and when its samples have been timed.
	Size(job *cluster.Job, kind cluster.Slot, tasks int, samples []float64) (ms float64, ok bool)
}

// Mean assumes that every task lasts as long as the samples on average. This average is also
// the mean of the uniform distribution that fits the samples best by least squares, which
// the paper uses: with plotting positions (i-½)/n its line passes through the mean.
type Mean struct{}

// Size implements Estimator.
func (Mean) Size(_ *cluster.Job, _ cluster.Slot, tasks int, samples []float64) (float64, bool) {
	return float64(tasks) * mean(samples), len(samples) > 0
}

// mean returns the average; 0 without samples.
func mean(samples []float64) (m float64) {
	for _, x := range samples {
		m += x / float64(len(samples))
	}
	return m
}

// Lognormal assumes that the durations of tasks are lognormally distributed. Its estimate
// uses the mean of the distribution that fits the samples best, by least squares of their
// logarithms over the normal quantiles of the plotting positions (i-½)/n.
type Lognormal struct{}

// Size implements Estimator. Samples are in ascending order.
func (Lognormal) Size(_ *cluster.Job, _ cluster.Slot, tasks int, samples []float64) (float64, bool) {
	n := float64(len(samples))
	var mu, xy, xx float64
	for i, x := range samples {
		quantile := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/n-1)
		mu += math.Log(max(x, 1)) / n
		xy += quantile * math.Log(max(x, 1))
		xx += quantile * quantile
	}
	sigma := 0.0
	if xx > 0 {
		sigma = xy / xx
	}
	return float64(tasks) * math.Exp(mu+sigma*sigma/2), len(samples) > 0
}

// Oracle returns the true sizes, in ms; ok is false for jobs that it does not know. Only a
// simulator has one.
type Oracle func(job *cluster.Job, kind cluster.Slot) (ms int64, ok bool)

// Size implements Estimator. For unknown jobs it returns the size that Mean returns.
func (o Oracle) Size(job *cluster.Job, kind cluster.Slot, tasks int, samples []float64) (float64, bool) {
	if ms, ok := o(job, kind); ok {
		return float64(ms), true
	}
	return Mean{}.Size(job, kind, tasks, samples)
}

// Law is a distribution of errors.
type Law string

const (
	// LognormalLaw multiplies a size by exp(Error·N), N being standard normal.
	LognormalLaw Law = "lognormal"
	// UniformLaw multiplies a size by a factor between 1-Error and 1+Error.
	UniformLaw Law = "uniform"
)

// NoisyEstimator adds errors to another Estimator, for experiments (the paper, section 4.3):
// it multiplies the estimated sizes by a random factor. A phase gets the same factor in
// every call.
type NoisyEstimator struct {
	Estimator
	Error float64 // half width for UniformLaw, standard deviation of the logarithm for LognormalLaw; 0 is no error
	Law   Law     // "" is LognormalLaw
	Seed  uint64  // seed of the factors
}

// Size implements Estimator.
func (e NoisyEstimator) Size(job *cluster.Job, kind cluster.Slot, tasks int, samples []float64) (float64, bool) {
	ms, ok := e.Estimator.Size(job, kind, tasks, samples)
	return ms * e.factor(job.ID, kind), ok
}

// factor returns the error of a phase. The normal number is made by the Box-Muller
// transform.
func (e NoisyEstimator) factor(id cluster.JobID, kind cluster.Slot) float64 {
	if e.Law == UniformLaw {
		return max(1+e.Error*(2*e.uniform(id, kind, 0)-1), 0)
	}
	normal := math.Sqrt(-2*math.Log(e.uniform(id, kind, 1))) * math.Cos(2*math.Pi*e.uniform(id, kind, 2))
	return math.Exp(e.Error * normal)
}

// uniform returns a number in (0, 1) that is pseudorandom in its arguments. Ids differ
// in their last digit only, so the hash is mixed until its high bits differ too.
func (e NoisyEstimator) uniform(id cluster.JobID, kind cluster.Slot, draw uint64) float64 {
	h := fnv.New64a()
	var b [32]byte
	for i, x := range [4]uint64{e.Seed, uint64(id.Number), uint64(kind), draw} {
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
	_, _ = h.Write(b[:]) // a hash takes everything
	x := h.Sum64()
	for _, factor := range [2]uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53} {
		x = (x ^ x>>33) * factor
	}
	return (float64((x^x>>33)>>11) + .5) / (1 << 53)
}
