package sleep

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hammr/hammr/mr"
)

// The properties that pass the number of maps, which is exact here, and the
// number of records of each map to the input.
const (
	mapsProperty    = "mapreduce.sleepjob.maps"
	recordsProperty = "mapreduce.sleepjob.map.sleep.count"
)

// input is an input without files: a run of numbers for each map.
type input struct{ mr.Input[int64, nothing] }

func newInput() mr.Input[int64, nothing] { return input{mr.Numbers(recordsProperty)} }

// Splits implements mr.Input.
func (input) Splits(_ context.Context, env *mr.InputEnv) ([]mr.Split, error) {
	maps, err := count(env, mapsProperty)
	if err != nil {
		return nil, err
	}
	records, err := count(env, recordsProperty)
	if err != nil {
		return nil, err
	}
	splits := make([]mr.Split, maps)
	for i := range splits {
		splits[i].Parts = []mr.Part{{Start: int64(i) * records, Length: records, FileSize: maps * records}}
	}
	return splits, nil
}

func count(env *mr.InputEnv, property string) (int64, error) {
	text := env.Property(property)
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%s: expected a whole number of at least 1; the options of sleep set it", property, text)
	}
	return n, nil
}
