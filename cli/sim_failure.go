package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/sim"
)

// parseFailure parses NODE@TIME or NODE@JOB:PHASE:PERCENT, with an optional +TIME. It parses
// from the end, because names of jobs may have colons and plus signs: the last colon
// precedes PERCENT, and a + has a meaning only after it.
func parseFailure(text string) (f sim.Failure, err error) {
	node, when, found := strings.Cut(text, "@")
	f.Machine, err = parseMachine(node)
	if !found {
		err = errors.New("no @")
	}
	percentAt := strings.LastIndex(when, ":")
	back := strings.Index(when[percentAt+1:], "+")
	if back >= 0 {
		back += percentAt + 1
		err = errors.Join(err, millis(when[back+1:], &f.BackAfter))
		when = when[:back]
	}
	if percentAt >= 0 {
		err = errors.Join(err, parseTrigger(when, percentAt, &f))
	} else {
		err = errors.Join(err, millis(when, &f.At))
	}
	if err != nil {
		return f, fmt.Errorf("--fail %q: expected NODE@TIME or NODE@JOB:PHASE:PERCENT, then optionally +TIME until it is back, "+
			"such as n0003@600, n0003@10m+5m or n0003@j1:map:50+30", text)
	}
	return f, nil
}

// parseMachine returns the number of a machine, from 0, by its name or the number in it:
// n0001, n1 and 1 are the first.
func parseMachine(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "n"))
	if err == nil && n < 1 {
		err = errors.New("below 1")
	}
	return n - 1, err
}

// parseTrigger parses JOB:PHASE:PERCENT, where percentAt is the last colon: names of jobs may
// have colons. A percent sign at the end is accepted.
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

// millis parses a time into ms of virtual time; a bare number is in seconds, as in the traces.
func millis(text string, into *int64) error {
	d, err := time.ParseDuration(text)
	if _, bare := strconv.ParseFloat(text, 64); bare == nil {
		d, err = time.ParseDuration(text + "s") // ParseDuration accepts neither Inf nor exponents
	}
	if err == nil && d < 0 {
		err = errors.New("below 0")
	}
	*into = d.Milliseconds()
	return err
}
