package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/registry"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/workload"
)

// policyConf holds the properties of policies by the name of the policy; "" is every policy.
// It is the value of --conf, which may be given several times.
type policyConf map[string]settings

// Set adds NAME=VALUE or POLICY:NAME=VALUE. The first colon before the equals sign ends the
// policy: names of properties have none.
func (p policyConf) Set(text string) error {
	name, _, _ := strings.Cut(text, "=")
	policy, _, found := strings.Cut(name, ":")
	if found {
		text = text[len(policy)+1:]
	} else {
		policy = ""
	}
	if p[policy] == nil {
		p[policy] = make(settings)
	}
	if p[policy].Set(text) != nil {
		return errors.New("expected NAME=VALUE or POLICY:NAME=VALUE, each name once")
	}
	return nil
}

// String implements pflag.Value.
func (p policyConf) String() string { return "" }

// Type implements pflag.Value.
func (p policyConf) Type() string { return "[POLICY:]NAME=VALUE" }

// of returns the properties of one policy: the properties of all policies, and its own,
// which override them.
func (p policyConf) of(policy string) settings {
	conf := make(settings)
	maps.Copy(conf, p[""])
	maps.Copy(conf, p[policy])
	return conf
}

// checkPolicies reports policies that are named twice, properties of policies that are not
// named, and flags that no named policy uses: results of a run that ignores a flag would
// mislead.
func (c *simCluster) checkPolicies() error {
	var errs []error
	if len(c.policies) == 0 {
		errs = append(errs, fmt.Errorf("--policy: expected at least one of %s", strings.Join(registry.Names(), ", ")))
	}
	for i, name := range c.policies {
		if slices.Contains(c.policies[:i], name) {
			errs = append(errs, fmt.Errorf("--policy: %q is named twice", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.conf)) {
		if name != "" && name != c.baseline && !slices.Contains(c.policies, name) {
			errs = append(errs, fmt.Errorf("--conf: policy %q is none of %s", name, strings.Join(c.policies, ", ")))
		}
	}
	anyPolicy := func(of func(policy string, conf map[string]string) bool) bool {
		return slices.ContainsFunc(c.policies, func(policy string) bool { return of(policy, c.conf.of(policy)) })
	}
	if c.allocations != "" && !anyPolicy(registry.HasPools) {
		errs = append(errs, fmt.Errorf("--allocations: none of %s has pools of its own; fair does", strings.Join(c.policies, ", ")))
	}
	if c.sizeError > 0 && !anyPolicy(registry.UsesJobSizes) {
		errs = append(errs, fmt.Errorf("--size-error: none of %s estimates sizes; hfsp does", strings.Join(c.policies, ", ")))
	}
	return errors.Join(errs...)
}

// makePolicies makes each policy, for one run, because policies keep state. It reports every
// error in their names and properties. If a property of all policies is wrong for one
// policy, the error says how to set it for a single policy.
func (c *simCluster) makePolicies(w *workload.Workload, seed uint64) ([]sched.Policy, error) {
	var made []sched.Policy
	var errs []error
	for _, name := range c.policies {
		p, err := c.makePolicy(name, w, seed)
		if err != nil && len(c.policies) > 1 && len(c.conf[""]) > 0 {
			err = fmt.Errorf("%w; --conf POLICY:NAME=VALUE sets one policy alone", err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--policy: %w", err))
		}
		made = append(made, p)
	}
	return made, errors.Join(errs...)
}

// warn prints a warning for content of the allocation file that no policy uses, once for all
// policies. makePolicies has read and checked the file before.
func (c *simCluster) warn(w io.Writer) {
	if c.allocations == "" {
		return
	}
	content, err := os.ReadFile(c.allocations)
	if err != nil {
		return // removed since makePolicies
	}
	if a, err := pool.Parse(c.allocations, content); err == nil {
		for _, warning := range a.Warnings {
			fmt.Fprintln(w, "hammr:", warning)
		}
	}
}

// makePolicy makes one policy with its own settings, and with the settings of the flags that
// it accepts. The oracle can give every policy the true sizes of jobs; only an estimator
// that is set to the oracle asks it.
func (c *simCluster) makePolicy(name string, w *workload.Workload, seed uint64) (sched.Policy, error) {
	conf := c.conf.of(name)
	if c.allocations != "" && registry.HasPools(name, conf) {
		conf[registry.AllocationFile] = c.allocations
	}
	if c.sizeError > 0 && registry.UsesJobSizes(name, conf) {
		// Errors are drawn by the seed of the run, so that policies of one run see the same
		// errors.
		conf["hammr.hfsp.size-error"] = strconv.FormatFloat(c.sizeError, 'g', -1, 64)
		conf["hammr.hfsp.seed"] = strconv.FormatUint(seed, 10)
	}
	if err := readAllocations(conf); err != nil {
		return nil, err
	}
	return registry.New(name, conf, sched.Setup{Placement: sched.DefaultPlacement(), Preempt: c.preemption, Oracle: sim.Oracle(w)})
}
