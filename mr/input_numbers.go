package mr

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/hammr/hammr/internal/conf"
)

// Numbers returns an input without files, for programs that generate data: the numbers from
// 0 up to, but excluding, the value of a property. They are divided into mapreduce.job.maps
// ranges of equal length.
//
// A split of numbers uses the fields of a file without a name:
//
//	Start      the first number
//	Length     how many
//	FileSize   the numbers of the whole input
//
// So progress, preemption by split and the order of records work as for files.
func Numbers(property string) Input[int64, struct{}] { return numbers{property} }

// numbers holds the name of the property with the count.
type numbers struct{ property string }

// Splits implements Input.
func (n numbers) Splits(_ context.Context, env *InputEnv) ([]Split, error) {
	if len(env.Paths) > 0 {
		return nil, fmt.Errorf("%w: input %s of a program that reads none", ErrUsage, env.Paths[0])
	}
	text := env.conf.String(n.property)
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil || count < 0 {
		return nil, fmt.Errorf("%s=%s: expected a whole number of at least 0", n.property, text)
	}
	return dealNumbers(count, env.conf.Int64(conf.JobMaps)), nil
}

// dealNumbers divides 0 to count-1 into at most maps ranges. If the division leaves a
// remainder, the first ranges are longer by one: 10 numbers in 4 ranges are 3, 3, 2 and 2.
func dealNumbers(count, maps int64) []Split {
	maps = min(max(maps, 1), max(count, 1), math.MaxInt32)
	splits := make([]Split, maps)
	start := int64(0)
	for i := range splits {
		length := count / maps
		if int64(i) < count%maps {
			length++
		}
		splits[i] = Split{Parts: []Part{{Start: start, Length: length, FileSize: count}}}
		start += length
	}
	return splits
}

// Open implements Input.
func (numbers) Open(_ *Task, s Split) (Reader[int64, struct{}], error) {
	first, err := numberAt(s.Range.Start)
	if err != nil {
		return nil, err
	}
	end, err := numberAt(s.Range.End)
	if err != nil {
		return nil, err
	}
	// The range of the first attempt of a split may start at offset 0 of the input.
	first = max(first, s.Parts[0].Start)
	end = min(end, s.Parts[0].Start+s.Parts[0].Length)
	return &numberReader{first: first, next: first, end: end}, nil
}

// numberAt returns the number at a position.
func numberAt(p Position) (int64, error) {
	if p.Offset > math.MaxInt64-p.Skip {
		return 0, fmt.Errorf("position %v: beyond the last number", p)
	}
	return p.Offset + p.Skip, nil
}

// numberReader reads the numbers from first to end-1; the current number is next-1. The
// Position of a number has the number itself as offset.
type numberReader struct{ first, next, end int64 }

func (r *numberReader) Next() bool {
	if r.next >= r.end {
		return false
	}
	r.next++
	return true
}

func (r *numberReader) Record() (int64, struct{}) { return r.next - 1, struct{}{} }

func (r *numberReader) Position() Position {
	return Position{Offset: max(r.next-1, r.first)}
}

func (r *numberReader) Location() (file string, offset int64) { return "", r.Position().Offset }
func (r *numberReader) Consumed() int64                       { return r.next - r.first }
func (r *numberReader) Err() error                            { return nil }
func (r *numberReader) Close() error                          { return nil }
