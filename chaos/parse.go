package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/preempt"
)

// header is the first line of a plan.
const header = "hammr-plan 1"

// maxPlanBytes bounds the text of a plan.
const maxPlanBytes = 1 << 20

// Parse reads a plan and checks it. The error names every wrong line, with file and line;
// file is only a name.
//
// Lines are parsed one by one, and then the plan is checked as a whole. So a plan with
// several errors gets all of them at once, sorted by line. If a job line is wrong, faults
// may refer to a job that could not be read; references to jobs are then not checked.
func Parse(file string, text []byte) (*Plan, error) {
	p := NewPlan()
	p.File = file
	if len(text) > maxPlanBytes {
		return nil, p.at(0, fmt.Errorf("it has %d bytes; a plan has at most %d", len(text), maxPlanBytes))
	}
	lines := strings.Split(string(text), "\n")
	if strings.TrimSpace(lines[0]) != header {
		return nil, p.at(1, fmt.Errorf("%.40q: a plan begins with %q", strings.TrimSpace(lines[0]), header))
	}
	var found problems
	jobs := true                     // all jobs were read
	settings := make(map[string]int) // their lines
	for i, line := range lines[1:] {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		err := p.parseLine(words, i+2)
		if first := settings[words[0]]; first > 0 {
			err = fmt.Errorf("%s is in line %d already", words[0], first)
		} else if words[0] != "job" && words[0] != "fault" {
			settings[words[0]] = i + 2
		}
		if err != nil {
			found.add(i+2, err)
			jobs = jobs && words[0] != "job"
		}
	}
	found = append(found, p.check(jobs, settings)...)
	slices.SortStableFunc(found, func(a, b problem) int { return cmp.Compare(a.line, b.line) })
	if err := found.join(p); err != nil {
		return nil, err
	}
	return p, nil
}

// read sets a value from a word, and leaves it unchanged if the word is wrong. The check of
// the whole plan then sees the default, and does not report the setting a second time.
func read[T any](at *T, word string, parse func(string) (T, error)) error {
	v, err := parse(word)
	if err == nil {
		*at = v
	}
	return err
}

func parseSeed(word string) (uint64, error) {
	seed, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("seed %q: expected a whole number from 0, below 2^64", word)
	}
	return seed, nil
}

// planSettings are the lines with one number or time.
var planSettings = map[string]struct {
	unit  string
	parse func(*Plan, string) error
}{
	"seed":      {"NUMBER", func(p *Plan, word string) error { return read(&p.Seed, word, parseSeed) }},
	"masters":   {"NUMBER", func(p *Plan, word string) error { return read(&p.Masters, word, number) }},
	"tasknodes": {"NUMBER", func(p *Plan, word string) error { return read(&p.Tasknodes, word, number) }},
	"limit":     {"TIME", func(p *Plan, word string) error { return read(&p.Limit, word, time.ParseDuration) }},
}

// parseLine reads one line that has words. words[0] is the name of the line. Settings that
// are in the plan already are refused by Parse.
func (p *Plan) parseLine(words []string, line int) error {
	name, args := words[0], words[1:]
	if s, found := planSettings[name]; found {
		if len(args) != 1 {
			return fmt.Errorf("expected %q", name+" "+s.unit)
		}
		return s.parse(p, args[0])
	}
	switch name {
	case "hdfs":
		if p.HDFS = true; len(args) != 0 {
			return errors.New(`expected "hdfs"`)
		}
	case "job":
		if len(args) < 2 {
			return errors.New(`expected "job NAME PROGRAM"`)
		}
		p.Jobs = append(p.Jobs, Job{Name: args[0], Program: args[1], Args: append([]string(nil), args[2:]...), Line: line})
	case "fault":
		return p.parseFault(args, line)
	default:
		return fmt.Errorf("%q: expected seed, masters, tasknodes, limit, hdfs, job or fault", name)
	}
	return nil
}

// parseFault reads "TRIGGER do KIND ROLE [NAME] [at POINT] [by AMOUNT] [for TIME]". Options
// are pairs of words, so an odd number of words begins with the name of the target.
func (p *Plan) parseFault(words []string, line int) (err error) {
	f := Fault{Line: line}
	if f.Trigger, words, err = parseTrigger(words); err != nil {
		return err
	}
	if len(words) < 3 || words[0] != "do" {
		return errors.New("expected 'do KIND TARGET' after the trigger, such as 'do kill tasknode 2'")
	}
	f.Kind, f.Target.Role, words = Kind(words[1]), Role(words[2]), words[3:]
	if len(words)%2 == 1 {
		f.Target.Name, words = words[0], words[1:]
	}
	for ; len(words) > 0; words = words[2:] {
		if err := f.set(words[0], words[1]); err != nil {
			return err
		}
	}
	p.Faults = append(p.Faults, f)
	return nil
}

// set takes one of the options behind a target. The meaning of "by" depends on the kind. A
// kind without an amount takes a duration here, so that the check of the fault can name the
// kind.
func (f *Fault) set(option, value string) (err error) {
	by := SpecOf(f.Kind).by
	switch {
	case option == "for" && f.For == 0:
		if f.For, err = time.ParseDuration(value); err == nil && f.For <= 0 {
			err = fmt.Errorf("for %s: expected more than 0s", value)
		}
	case option == "at" && by == byAction && f.Point == "":
		f.Point = value
	case option == "by" && by == byAction && f.Action == "":
		f.Action = value
	case option == "by" && by == byMode && f.Mode == "":
		f.Mode = preempt.Mode(value)
	case option == "by" && by == byDirection && f.Direction == "":
		f.Direction = value
	case option == "by" && amountUnits[by] != "" && f.Amount == 0:
		digits, hasUnit := strings.CutSuffix(value, amountUnits[by])
		if f.Amount, err = strconv.Atoi(digits); err != nil || !hasUnit {
			err = fmt.Errorf("by %s: expected a whole number and its unit, such as 20%s", value, amountUnits[by])
		}
	case option == "by" && f.Amounts() == "":
		f.By, err = time.ParseDuration(value)
	default:
		err = fmt.Errorf("%q: expected 'by AMOUNT' or 'for TIME' after the target, and for a failpoint also 'at POINT', each once", option+" "+value)
	}
	return err
}

// parseTrigger reads "at TIME" or "when JOB EVENT NUMBER" and returns the words
// behind it.
//
//	at 1.5s
//	when j1 map 50%
//	when j1 spill 3
func parseTrigger(words []string) (t Trigger, rest []string, err error) {
	switch {
	case len(words) >= 2 && words[0] == "at":
		t.Event = AtTime
		t.At, err = time.ParseDuration(words[1])
		return t, words[2:], err
	case len(words) >= 4 && words[0] == "when":
		t.Job, t.Event = words[1], Event(words[2])
		t.N, err = parseCount(t.Event, words[3])
		return t, words[4:], err
	}
	return t, nil, errors.New("expected 'at TIME' or 'when JOB map|reduce|spill|commit NUMBER' after 'fault'")
}

// parseCount parses the number of an event. Progress needs a percent sign, so that it is
// not mistaken for a number of tasks.
func parseCount(event Event, text string) (int, error) {
	switch event {
	case AtMapProgress, AtReduceProgress:
		digits, percent := strings.CutSuffix(text, "%")
		n, err := strconv.Atoi(digits)
		if !percent || err != nil {
			return 0, fmt.Errorf("%s %q: expected a whole number of percent, such as 50%%", event, text)
		}
		return n, nil
	case AtSpill, AtCommit:
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%s %q: expected a number", event, text)
		}
		return n, nil
	}
	return 0, fmt.Errorf("%q: expected map, reduce, spill or commit", event)
}
