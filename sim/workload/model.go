package workload

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/kit/validate"
)

// Model computes the time of a task from its bytes:
//
//	time = (Start + bytes / rate) · noise
//
// The rate is the one at which a task of BlockBytes takes its block time. The noise is
// lognormal with mean 1: it varies the tasks of a job and leaves the offered load unchanged.
// It is a hash of Seed, the job's id and the task's number, so it does not depend on other
// tasks.
//
//	Start 2 s, BlockTime 60 s, block of 128 MiB:
//	64 MiB take 2 s + 64 · (58 s / 128) = 31 s, times the noise
type Model struct {
	Start           time.Duration // before the first byte; 0 is 2 s, negative is none
	BlockBytes      int64         // of a full block; 0 is 128 MiB
	BlockTime       time.Duration // of a map of a full block, with its start; 0 is 60 s
	ReduceBlockTime time.Duration // of a reduce of as many bytes, with its start; 0 is BlockTime
	Sigma           float64       // standard deviation of the logarithm of the noise; 0 is no noise
	Seed            uint64        // of the noise; 0 is a valid seed
}

// Defaults of a Model and of readers.
const (
	DefaultStart      = 2 * time.Second
	DefaultBlockBytes = 128 << 20
	DefaultBlockTime  = 60 * time.Second
)

// maxSigma limits the noise: beyond it one task outweighs all others.
const maxSigma = 5

// EnsureDefaults replaces zero values by the defaults. Sigma and Seed have no other
// default.
func (m *Model) EnsureDefaults() {
	m.Start, m.BlockBytes = cmp.Or(m.Start, DefaultStart), cmp.Or(m.BlockBytes, DefaultBlockBytes)
	m.BlockTime = cmp.Or(m.BlockTime, DefaultBlockTime)
	m.ReduceBlockTime = cmp.Or(m.ReduceBlockTime, m.BlockTime)
}

// Validate reports every error of a model with its defaults.
func (m *Model) Validate() error {
	start := max(0, m.Start)
	return errors.Join(
		validate.That(m.BlockBytes > 0 && m.BlockBytes <= MaxBytes, "block of %d bytes, expected 1 to %d", m.BlockBytes, int64(MaxBytes)),
		validate.That(m.BlockTime > start && m.ReduceBlockTime > start,
			"a block in %v (map) and %v (reduce) with a start of %v, expected longer than the start", m.BlockTime, m.ReduceBlockTime, start),
		validate.That(m.Sigma >= 0 && m.Sigma <= maxSigma, "sigma %v, expected 0 to %d", m.Sigma, maxSigma),
	)
}

// maps divides a job's input into n maps: full blocks and a rest if that gives n, otherwise
// equal parts.
//
//	300 MB in 3 maps, blocks of 128 MB:  128, 128, 44
//	300 MB in 5 maps:                    60, 60, 60, 60, 60
func (m *Model) maps(job string, n int, bytes, block int64) []Task {
	tasks := equalParts(n, bytes)
	// The trace has as many maps as the input has blocks.
	if (bytes+block-1)/block == int64(n) {
		for i := range tasks {
			tasks[i].Bytes = min(block, bytes-int64(i)*block)
		}
	}
	m.fillTimes(job, 'm', tasks, m.BlockTime)
	return tasks
}

// reduces divides a job's shuffled bytes into n equal reduces.
func (m *Model) reduces(job string, n int, bytes int64) []Task {
	tasks := equalParts(n, bytes)
	m.fillTimes(job, 'r', tasks, m.ReduceBlockTime)
	return tasks
}

// equalParts divides bytes between n tasks, which differ by one byte at most.
func equalParts(n int, bytes int64) []Task {
	if n == 0 {
		return nil
	}
	tasks := make([]Task, n)
	part, rest := bytes/int64(n), bytes%int64(n)
	for i := range tasks {
		tasks[i].Bytes = part
		if int64(i) < rest {
			tasks[i].Bytes++
		}
	}
	return tasks
}

// fillTimes computes the times of tasks from their bytes. The time of a full block includes
// the start, so the rate is that of the rest.
func (m *Model) fillTimes(job string, kind byte, tasks []Task, block time.Duration) {
	start := max(0, m.Start).Seconds() * 1000
	perByte := (float64(block.Milliseconds()) - start) / float64(m.BlockBytes)
	for i := range tasks {
		tasks[i].Millis = wholeMillis((start + perByte*float64(tasks[i].Bytes)) * m.noise(job, kind, i))
	}
}

// noise returns the factor of one task's time. Adding a task or a job leaves the noise of all
// others as it is.
func (m *Model) noise(job string, kind byte, number int) float64 {
	if m.Sigma == 0 {
		return 1
	}
	b := binary.LittleEndian.AppendUint64(nil, m.Seed)
	b = binary.LittleEndian.AppendUint64(append(b, kind), uint64(number))
	return lognormal(m.Sigma, openUnit(xxhash.Sum64(append(b, job...))))
}

// lognormal returns the u-quantile of the lognormal distribution with mean 1.
func lognormal(sigma, u float64) float64 {
	normal := math.Sqrt2 * math.Erfinv(2*u-1)
	return math.Exp(sigma*normal - sigma*sigma/2)
}

// openUnit maps 64 random bits into the open interval from 0 to 1. 0 and 1 are left out,
// because their quantiles may be infinite.
func openUnit(bits uint64) float64 {
	return (float64(bits>>11) + 0.5) / (1 << 53)
}

// wholeMillis rounds a time. A time too long for a Task becomes one that Validate reports.
func wholeMillis(ms float64) int64 {
	if !(ms <= MaxMillis) {
		return MaxMillis + 1
	}
	return int64(math.Round(ms))
}
