package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hammr/hammr/bench/paper"
	"github.com/hammr/hammr/internal/ops/minihdfs"
)

// Selection says which experiments of a paper run on real clusters, and at which scale. Its
// caller calls Check, which refuses an unknown experiment, then Probe, which finds out what
// the machine lacks; after that WhyNot is complete. Experiments that are left out appear in
// the report with the reason.
type Selection struct {
	Paper   string // name, one that paper.Find knows
	Only    string // id of the one wanted experiment; "" for all
	Options paper.Options
	Testbed *Testbed // the machines of the clusters; nil for this machine

	once sync.Once
	plan []paper.Experiment // see all

	noHDFS, noNetworks error // why experiments with these cannot run here; nil if they can, or none needs them
}

// all returns the experiments of the paper, with those that only compare engines. A plan that
// cannot be made, for lack of traces, has no experiments.
func (s *Selection) all() []paper.Experiment {
	s.once.Do(func() {
		p, err := paper.Find(s.Paper)
		if err != nil {
			return // the caller has checked the name
		}
		options := s.Options
		options.Controls = true
		s.plan, _ = p.Plan(options) // paper.Run reports the error
	})
	return s.plan
}

// wanted returns the requested experiments that real clusters can run, with their scales.
func (s *Selection) wanted() (list []paper.Experiment) {
	for _, e := range s.all() {
		if _, whyNot := s.scaleOf(&e); whyNot == "" && (s.Only == "" || e.ID == s.Only) {
			list = append(list, e)
		}
	}
	return list
}

// scaleOf returns the scale of an experiment, or the reason why it is not run.
func (s *Selection) scaleOf(e *paper.Experiment) (Scale, string) {
	if s.Testbed != nil {
		return s.Testbed.scaleOf(s.Paper, e)
	}
	return ScaleOf(s.Paper, e)
}

// scaleOfTrial returns the scale of a trial's experiment; an experiment that is not run is an
// error.
func (s *Selection) scaleOfTrial(t paper.Trial) (Scale, error) {
	for _, e := range s.all() {
		if e.ID == t.Experiment {
			scale, whyNot := s.scaleOf(&e)
			if whyNot != "" {
				return scale, fmt.Errorf("experiment %s of %s on a real cluster: %s", e.ID, s.Paper, whyNot)
			}
			return scale, nil
		}
	}
	return Scale{}, fmt.Errorf("experiment %s of %s: there is none", t.Experiment, s.Paper)
}

// Check refuses a name in Only that is unknown, or that only the simulator runs.
func (s *Selection) Check() error {
	if s.Only == "" {
		return nil
	}
	var names []string
	for _, e := range s.all() {
		_, whyNot := s.scaleOf(&e)
		switch {
		case e.ID == s.Only && whyNot == "":
			return nil
		case e.ID == s.Only:
			return fmt.Errorf("it is not run on a real cluster: %s", whyNot)
		case whyNot == "":
			names = append(names, e.ID)
		}
	}
	return fmt.Errorf("not one of %s", strings.Join(names, ", "))
}

// Probe finds out what this machine lacks for the wanted experiments. It fetches HDFS's
// jars, so it comes before a process enters namespaces without a network. canIsolate returns
// why machines can have no networks of their own here, nil if they can. Probe fails if the
// one wanted experiment cannot run.
func (s *Selection) Probe(ctx context.Context, canIsolate func() error) error {
	for _, e := range s.wanted() {
		scale := s.scale(&e)
		if scale.Input && s.noHDFS == nil && s.Testbed == nil {
			s.noHDFS = minihdfs.CheckAvailable(ctx)
		}
		if scale.Link > 0 && s.noNetworks == nil {
			s.noNetworks = canIsolate()
		}
		if scale.Hadoop != "" && s.noHDFS == nil {
			_, _ = minihdfs.YarnJars(ctx) // without them the trial is left out
		}
		if why := s.WhyNot(&e); s.Only != "" && why != "" {
			return fmt.Errorf("experiment %s of %s: %s", e.ID, s.Paper, why)
		}
	}
	return ctx.Err()
}

// WhyNot returns why an experiment is not run, "" if it runs. It serves as
// paper.Options.Skip.
func (s *Selection) WhyNot(e *paper.Experiment) string {
	scale, whyNot := s.scaleOf(e)
	switch {
	case s.Only != "" && e.ID != s.Only:
		return "it was not asked for"
	case whyNot != "":
		return whyNot
	case scale.Input && s.noHDFS != nil:
		return s.noHDFS.Error()
	case scale.Link > 0 && s.noNetworks != nil:
		return s.noNetworks.Error()
	}
	return ""
}

// scale returns the scale of an experiment, the zero Scale if real clusters cannot run it.
func (s *Selection) scale(e *paper.Experiment) Scale {
	scale, _ := s.scaleOf(e)
	return scale
}

// ReadsBlocks reports whether the jobs of an experiment read blocks of HDFS.
func (s *Selection) ReadsBlocks(e *paper.Experiment) bool { return s.scale(e).Input }

// NeedsNetworks reports whether an experiment that runs gives each machine its own network.
func (s *Selection) NeedsNetworks() bool {
	return slices.ContainsFunc(s.wanted(), func(e paper.Experiment) bool {
		return s.scale(&e).Link > 0 && s.WhyNot(&e) == ""
	})
}

// Scales returns the scales of all experiments that real clusters can run, by their ids, for
// the record of the environment.
func (s *Selection) Scales() map[string]string {
	scales := make(map[string]string)
	for _, e := range s.all() {
		if scale, whyNot := s.scaleOf(&e); whyNot == "" {
			scales[e.ID] = scale.String()
		}
	}
	return scales
}

// Notes lists the scales of the experiments in a report, as Markdown.
func (s *Selection) Notes(r *paper.Report) (text string) {
	for _, section := range r.Sections {
		text += fmt.Sprintf("- %s: %v\n", section.Experiment.ID, s.scale(section.Experiment))
	}
	return text
}
