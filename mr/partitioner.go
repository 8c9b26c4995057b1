package mr

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/shuffle"
)

// partitioner returns the function that assigns encoded keys to reduces; nil for the default.
// The cases are in order of precedence: a job with one reduce calls no partition function, and
// a total order replaces the hash.
func partitioner[K, V any](t *Task, r *route[K, V], n int) (func(key []byte) int, error) {
	switch {
	case n == 1:
		return func([]byte) int { return 0 }, nil
	case r.partition != nil:
		return userPartition(t, r, n), nil
	case r.totalOrder && r.groupFirst:
		ranges, err := rangePartition(t)
		groupLen := groupPrefix(r)
		return func(key []byte) int { return ranges(key[:groupLen(key)]) }, err
	case r.totalOrder:
		return rangePartition(t)
	case r.groupFirst:
		groupLen := groupPrefix(r)
		return func(key []byte) int { return shuffle.HashPartition(key[:groupLen(key)], n) }, nil
	}
	return nil, nil
}

// userPartition returns a function that decodes each key and calls the user's function. An
// invalid key or partition is a panic that ends the attempt, since partition functions
// return no error. Hadoop refuses a partition out of range in the same way.
func userPartition[K, V any](t *Task, r *route[K, V], n int) func(key []byte) int {
	lent := t.lender()
	decode := lending(lent, r.keys.Decode)
	return func(key []byte) int {
		k, err := decode(slices.Clip(key))
		if err != nil {
			panic(fmt.Errorf("decoding a key for the partition function: %w", err))
		}
		p := r.partition(k, n)
		lent.End()
		if p < 0 || p >= n {
			panic(fmt.Errorf("partition function: %d for key %v, not within 0 to %d", p, k, n-1))
		}
		return p
	}
}

// groupPrefix returns the function that measures the part of an encoded key that identifies
// its group; nil if that is the whole key.
func groupPrefix[K, V any](r *route[K, V]) func(key []byte) int {
	if !r.groupFirst {
		return nil
	}
	grouper := r.keys.(keys.Grouper)
	return func(key []byte) int {
		n, err := grouper.GroupLen(key)
		if err != nil {
			panic(fmt.Errorf("grouping a key: %w", err))
		}
		return n
	}
}

// The size of the sample. A partition with n sampled keys deviates from an equal share by
// one part in √n.
const (
	minSampleKeys = 10_000 // number of keys for the whole input, as in Hadoop's RandomSampler
	maxSampleKeys = 100_000
	keysPerReduce = 1_000
	sampleBytes   = 32 << 20 // bytes of keys; a few keys of 1 MB must not fill the memory
	sampleSplits  = 10       // number of splits, spread over the input
)

// sampler collects the keys that a job's mappers emit for part of its input.
// It runs in the client, before the job is submitted: the number of maps is known by then, and
// the ranges must be the same in all of them.
type sampler struct {
	node   func(split *taskproc.Split) *task.NodeRun // returns the Node in which the mapper runs
	splits []*taskproc.Split                         // splits to sample; at most sampleSplits
	quota  int                                       // keys per split
	bytes  int                                       // bytes of keys per split
	keys   [][]byte
}

// errEnough ends the sampling of a split.
var errEnough = errors.New("mr: enough samples")

// cutPoints samples the keys of a job and returns the ranges of its reduces, encoded for a
// property. Hadoop's TotalOrderPartitioner reads them from a partition file instead.
func cutPoints(ctx context.Context, j anyJob, s *sampler, reduces int) (string, error) {
	s.splits = spread(s.splits, sampleSplits)
	if len(s.splits) > 0 {
		s.quota = min(max(minSampleKeys, keysPerReduce*reduces), maxSampleKeys) / len(s.splits)
		s.bytes = sampleBytes / len(s.splits)
	}
	if err := j.sampleKeys(ctx, s); err != nil {
		return "", fmt.Errorf("sampling the input for a total order: %w", err)
	}
	ranges, err := shuffle.NewRangePartitioner(shuffle.CutPoints(s.keys, reduces))
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(ranges.Encode()), nil
}

// spread picks at most n of the splits, evenly, since an input is often sorted in part.
func spread(splits []*taskproc.Split, n int) []*taskproc.Split {
	if len(splits) <= n {
		return splits
	}
	picked := make([]*taskproc.Split, n)
	for i := range picked {
		picked[i] = splits[i*len(splits)/n]
	}
	return picked
}

// rangePartition returns the partition function that cutPoints found. It is decoded once per
// attempt.
func rangePartition(t *Task) (func(key []byte) int, error) {
	data, err := base64.StdEncoding.DecodeString(t.Property(conf.PartitionRanges))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conf.PartitionRanges, err)
	}
	ranges, err := shuffle.DecodeRangePartitioner(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conf.PartitionRanges, err)
	}
	return ranges.Partition, nil
}

// sampleKeys implements anyJob. It adds to s the keys of all sources, each sampled with its own
// mapper.
func (j *Job[K, V, KO, VO]) sampleKeys(ctx context.Context, s *sampler) error {
	for i, src := range j.sources {
		share := *s
		share.splits = nil
		for _, split := range s.splits {
			if int(split.Input) == i {
				share.splits = append(share.splits, split)
			}
		}
		if err := src.sample(ctx, j, &share); err != nil {
			return err
		}
		s.keys = share.keys
	}
	return nil
}

// sampleSource runs the mapper over the beginning of each split.
// Each split gets the same quota of keys, so that splits with many small records do not
// prevail.
func sampleSource[KI, VI, K, V, KO, VO any](ctx context.Context, j *Job[K, V, KO, VO], in Input[KI, VI], mapper Mapper[KI, VI, K, V], s *sampler) error {
	for _, split := range s.splits {
		t, err := newTask(s.node(split), j.config, j.named)
		if err != nil {
			return err
		}
		if err := sampleSplit(ctx, j, t, split, in, instance(mapper), s); err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return nil
}

// sampleSplit runs the mapper over a split. It returns errEnough once there are enough keys.
// The mapper is a new instance, and its Close is not called. A panic in the mapper is an
// error, as in a task.
func sampleSplit[KI, VI, K, V, KO, VO any](ctx context.Context, j *Job[K, V, KO, VO], t *Task, split *taskproc.Split, in Input[KI, VI], mapper Mapper[KI, VI, K, V], s *sampler) (err error) {
	reader, err := in.Open(t, splitOf(split, splits.Range(split)))
	if err != nil {
		return err
	}
	defer reader.Close()
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	if err := callSetup(t, mapper); err != nil {
		return err
	}
	out := &keySink[K, V]{job: j, sampler: s, left: s.quota, bytes: s.bytes}
	for reader.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, value := reader.Record()
		if err := mapper.Map(t, key, value, out); err != nil {
			return err
		}
		if out.full() {
			return errEnough
		}
	}
	return reader.Err()
}

// keySink keeps the encoded keys of the records that are emitted. Once it is full, it
// ignores further keys of the same record.
type keySink[K, V any] struct {
	job     interface{ encodeKey(K) []byte }
	sampler *sampler
	left    int // keys that are still wanted
	bytes   int // bytes that these keys may have; the last key may exceed the limit
}

// Emit implements Emitter.
func (k *keySink[K, V]) Emit(key K, _ V) {
	if k.full() {
		return
	}
	encoded := k.job.encodeKey(key)
	k.sampler.keys = append(k.sampler.keys, encoded)
	k.left--
	k.bytes -= len(encoded)
}

func (k *keySink[K, V]) full() bool { return k.left <= 0 || k.bytes <= 0 }

func (j *Job[K, V, KO, VO]) encodeKey(key K) []byte { return j.route.keys.Append(nil, key) }
