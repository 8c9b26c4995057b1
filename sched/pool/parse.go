package pool

import (
	"fmt"
	"slices"
	"strings"
)

// Parse parses an allocation file. It returns either all allocations or, as Problems,
// every error of the file. Unknown elements are warnings.
func Parse(name string, data []byte) (*Allocations, error) {
	p := &parser{file: name, out: Empty()}
	top, line, err := readElements(data)
	switch {
	case err != nil:
		return nil, Problems{{name, line, err.Error(), "well-formed XML of pools"}}
	case top == nil:
		return nil, Problems{{name, line, "no element", "<allocations>"}}
	case top.tag != "allocations":
		return nil, Problems{{name, top.line, fmt.Sprintf("<%s>", top.tag), "<allocations>"}}
	}
	p.allocations(top)
	if len(p.problems) > 0 {
		return nil, Problems(byLine(p.problems))
	}
	p.out.Warnings = byLine(p.warnings)
	return p.out, nil
}

// parser reads the elements of a file into Allocations. It continues after an error, so that
// a user sees all errors at once.
type parser struct {
	file               string       // its name, for messages
	out                *Allocations // filled while elements are read
	problems, warnings []Problem    // in the order in which they are found
}

// problem notes an error, for which the file is refused.
func (p *parser) problem(line int, expected, format string, args ...any) {
	p.problems = append(p.problems, Problem{p.file, line, fmt.Sprintf(format, args...), expected})
}

// warn notes a setting without effect. The file is still accepted.
func (p *parser) warn(line int, expected, format string, args ...any) {
	p.warnings = append(p.warnings, Problem{p.file, line, fmt.Sprintf(format, args...), expected})
}

// allocations reads the defaults first, so that they apply to all pools, wherever in the
// file they are.
func (p *parser) allocations(top *element) {
	defaults := p.settings("", p.defaults())
	var pools []*element
	for _, e := range top.children {
		switch {
		case isPool(e):
			pools = append(pools, e)
		case e.tag == "user":
			p.user(e)
		default:
			defaults.read(e)
		}
	}
	for _, e := range pools {
		if e.tag == "queue" && e.name == root {
			p.root(e)
		} else {
			p.pool(e, p.out.Root)
		}
	}
}

func isPool(e *element) bool { return e.tag == "pool" || e.tag == "queue" }

// defaults returns the settings that apply to all pools and users.
func (p *parser) defaults() []setting {
	a, top := p.out, p.out.Root
	return []setting{
		{[]string{"userMaxJobsDefault", "userMaxAppsDefault"}, count(&a.userMaxDefault)},
		{[]string{"poolMaxJobsDefault", "queueMaxAppsDefault"}, count(&a.poolMaxDefault)},
		{[]string{"defaultMinSharePreemptionTimeout"}, seconds(&top.MinTimeout)},
		{[]string{"fairSharePreemptionTimeout", "defaultFairSharePreemptionTimeout"}, seconds(&top.FairTimeout)},
		{[]string{"defaultFairSharePreemptionThreshold"}, fraction(&top.Threshold)},
		{[]string{"defaultPoolSchedulingMode", "defaultQueueSchedulingPolicy"}, order(&a.order)},
	}
}

// user reads the limit of a user. An element without a limit has no effect: the default
// limit applies.
func (p *parser) user(e *element) {
	limit := p.out.userMaxDefault
	if p.named(e) {
		if _, twice := p.out.users[e.name]; twice {
			p.problem(e.line, "each user once", "user %q for the second time", e.name)
		}
	}
	settings := p.settings(fmt.Sprintf(" of user %q", e.name), []setting{{[]string{"maxRunningJobs", "maxRunningApps"}, count(&limit)}})
	for _, child := range e.children {
		settings.read(child)
	}
	if len(settings.seen) > 0 {
		p.out.users[e.name] = limit
	}
}

// named reports whether an element has a name, which pools and users need.
func (p *parser) named(e *element) bool {
	if e.name == "" {
		p.problem(e.line, `an attribute name="…"`, "<%s> without a name", e.tag)
	}
	return e.name != ""
}

// root reads a queue that describes the root. Its name is not part of the names of the
// pools in it.
func (p *parser) root(e *element) {
	if p.out.Root.Line > 0 {
		p.problem(e.line, "each pool once", "queue %q for the second time, after line %d", root, p.out.Root.Line)
	}
	p.out.Root.Line = e.line
	p.fill(e, p.out.Root)
}

// pool reads a pool and the pools in it. Names are compared in canonical form, so that
// root.a and a are the same pool.
func (p *parser) pool(e *element, parent *Pool) {
	if !p.named(e) {
		return
	}
	if e.tag == "queue" && strings.Contains(e.name, ".") {
		p.problem(e.line, "queues within queues instead of dots", "queue %q", e.name)
	}
	name := e.name
	if parent.Name != "" {
		name = parent.Name + "." + name
	}
	if canonical(name) == "" {
		p.problem(e.line, "another name, since root is the queue around all others", "<%s> called %q", e.tag, e.name)
		return
	}
	if other := p.out.byName[canonical(name)]; other != nil {
		p.problem(e.line, "each pool once", "pool %q for the second time, after line %d", name, other.Line)
	}
	child := p.out.undescribed(canonical(name), parent)
	child.Line = e.line
	p.out.byName[child.Name] = child
	parent.Children = append(parent.Children, child)
	p.fill(e, child)
}

// fill reads the settings of a pool, then the pools in it. The pools in it come last, since
// they inherit time-outs and threshold. An order for jobs only is an error in a pool of
// pools.
func (p *parser) fill(e *element, to *Pool) {
	settings := p.settings(fmt.Sprintf(" of pool %q", e.name), p.ofPool(to))
	var within []*element
	for _, child := range e.children {
		if isPool(child) {
			within = append(within, child)
		} else {
			settings.read(child)
		}
	}
	for _, child := range within {
		p.pool(child, to)
	}
	if len(within) > 0 && !to.Order.ofPools() {
		if line := settings.line("schedulingMode"); line > 0 {
			p.problem(line, "fair or drf", "%s for pool %q, which has pools in it", to.Order, e.name)
		}
		to.Order = Fair
	}
	for kind, of := range []string{"maps", "reduces"} {
		if to.Max[kind] < to.Min[kind] {
			p.warn(e.line, "no more than the maximum", "a minimum of %d %s in pool %q, whose maximum is %d", to.Min[kind], of, e.name, to.Max[kind])
		}
	}
}

// ofPool returns the settings of a pool: Hadoop 1's names, then the names of YARN's queues.
func (p *parser) ofPool(to *Pool) []setting {
	return []setting{
		{[]string{"minMaps"}, count(&to.Min[0])},
		{[]string{"minReduces"}, count(&to.Min[1])},
		{[]string{"maxMaps"}, count(&to.Max[0])},
		{[]string{"maxReduces"}, count(&to.Max[1])},
		{[]string{"minResources"}, resources(&to.Min)},
		{[]string{"maxResources"}, resources(&to.Max)},
		{[]string{"weight"}, weight(&to.Weight)},
		{[]string{"maxRunningJobs", "maxRunningApps"}, count(&to.MaxRunning)},
		{[]string{"schedulingMode", "schedulingPolicy"}, order(&to.Order)},
		{[]string{"minSharePreemptionTimeout"}, seconds(&to.MinTimeout)},
		{[]string{"fairSharePreemptionTimeout"}, seconds(&to.FairTimeout)},
		{[]string{"fairSharePreemptionThreshold"}, fraction(&to.Threshold)},
	}
}

// Problem is one error or warning about a file. It is printed as FILE:LINE, as compilers
// do, so that editors find the place.
type Problem struct {
	File     string // as the user named it
	Line     int    // from 1
	Found    string // text that is there
	Expected string // text that is expected instead
}

func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s; expected %s", p.File, p.Line, p.Found, p.Expected)
}

// Problems contains all errors of a file, by line. errors.As finds each Problem in it.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems one by one.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// byLine sorts problems by line; problems of one line keep their order.
func byLine(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return problems
}
