package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/sim"
)

// parseFailure reads NODE@TIME or NODE@JOB:PHASE:PERCENT, with +TIME behind it or
// not.
func parseFailure(text string) (f sim.Failure, err error) {
	node, when, found := strings.Cut(text, "@")
	f.Node, err = strconv.Atoi(node)
	if !found {
		err = errors.New("no @")
	}
	percentAt := strings.LastIndex(when, ":")
	back := strings.Index(when[percentAt+1:], "+")
	if back >= 0 {
		back += percentAt + 1
		err = errors.Join(err, millis(when[back+1:], &f.Back))
		when = when[:back]
	}
	if percentAt >= 0 {
		err = errors.Join(err, parseTrigger(when, percentAt, &f))
	} else {
		err = errors.Join(err, millis(when, &f.At))
	}
	if err != nil {
		return f, fmt.Errorf("--fail %q: expected NODE@TIME or NODE@JOB:PHASE:PERCENT, and +TIME where it comes back, "+
			"such as 3@10m, 3@10m+5m or 3@j1:map:50+5m", text)
	}
	return f, nil
}

// parseTrigger reads JOB:PHASE:PERCENT; jobs may have colons in their names.
func parseTrigger(text string, percentAt int, f *sim.Failure) (err error) {
	phaseAt := strings.LastIndex(text[:percentAt], ":")
	if phaseAt <= 0 {
		return errors.New("no job")
	}
	f.Job, f.Phase = text[:phaseAt], text[phaseAt+1:percentAt]
	if f.Phase != "map" && f.Phase != "reduce" {
		return errors.New("neither map nor reduce")
	}
	f.Percent, err = strconv.ParseFloat(strings.TrimSuffix(text[percentAt+1:], "%"), 64)
	return err
}

// millis reads a time.
func millis(text string, into *int64) error {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("below 0")
	}
	*into = d.Milliseconds()
	return err
}
