package registry

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/hfsp"
)

// Policy describes a policy for Register.
type Policy struct {
	// New makes the policy from its settings. It reads all its settings in any case, because a setting
	// that it does not read is unknown. A bad value is noted in s, which then refuses the policy, so New
	// need not check it.
	New func(s *Settings, setup sched.Setup) sched.Policy

	Settings []Setting // that New reads, for help and forms
	Pools    bool      // New reads the pools of an allocation file: Settings.Allocations
	JobSizes bool      // New reads an estimator of job sizes, and so may ask sched.Setup.Oracle: Settings.Estimator
}

// NewEstimator makes an estimator of job sizes. Settings that it reads belong to the policy that uses it.
type NewEstimator func(s *Settings, setup sched.Setup) hfsp.Estimator

var (
	policies   = table[Policy]{kind: "policy", all: make(map[string]Policy)}
	estimators = table[NewEstimator]{kind: "estimator", all: make(map[string]NewEstimator)}
	orders     = table[preempt.Order]{kind: "order of victims", all: make(map[string]preempt.Order)}
	sealed     bool // a program has begun to use the tables
)

// Register makes a policy known by its name to all of Hammr: to masters, to the simulator, and to each command,
// help text and page that lists policies. A package calls it in its init function. Register panics if the
// name is malformed or in use, or after Seal.
//
// A name has lower-case letters, digits, '-', '_' and '.', and begins with a letter or a digit.
func Register(name string, p Policy) {
	if name == chronosName {
		panic(fmt.Sprintf("registry: policy %q: the name is that of the policy that wraps others", name))
	}
	policies.add(name, p, p.New != nil, func(p Policy) any { return p.New(&Settings{policy: name}, sched.Setup{}) })
}

// RegisterEstimator makes an estimator of job sizes known by its name: a value of the setting
// hammr.hfsp.estimator. It panics as Register does.
func RegisterEstimator(name string, e NewEstimator) {
	estimators.add(name, e, e != nil, func(e NewEstimator) any { return e(&Settings{policy: name}, sched.Setup{}) })
}

// RegisterVictims makes an order of victims known by its name: a value of the setting hammr.preempt.victims.
// It panics as Register does.
func RegisterVictims(name string, o preempt.Order) {
	orders.add(name, o, o != nil, func(o preempt.Order) any { return o })
}

// Seal ends the time in which something may be registered. A program calls it once, before it uses a name.
// So all its parts, some of which run at the same time, know the same names.
func Seal() { sealed = true }

// table has everything of one kind that is registered, by name.
type table[T any] struct {
	kind string // for messages
	all  map[string]T
}

// add registers v by a name. made(v) is a value of the registering package; the type of that value is in messages.
func (t *table[T]) add(name string, v T, usable bool, made func(T) any) {
	before, twice := t.all[name]
	switch {
	case !validName(name):
		panic(fmt.Sprintf("registry: %s %q: expected a name of lower-case letters, digits, '-', '_' and '.' that begins with a letter or a digit", t.kind, name))
	case !usable:
		panic(fmt.Sprintf("registry: %s %q is nil", t.kind, name))
	case twice:
		panic(fmt.Sprintf("registry: %s %q is registered twice: as %s and as %s", t.kind, name, typeName(made(before)), typeName(made(v))))
	case sealed:
		panic(fmt.Sprintf("registry: %s %q (%s) is registered after the program has begun to use %s; register it in an init function",
			t.kind, name, typeName(made(v)), strings.Join(t.names(), ", ")))
	}
	t.all[name] = v
}

// names returns the registered names, ascending.
func (t *table[T]) names() []string { return slices.Sorted(maps.Keys(t.all)) }

// find returns what is registered by a name.
func (t *table[T]) find(name string) (T, error) {
	v, known := t.all[name]
	if !known {
		return v, fmt.Errorf("%s %q is unknown", t.kind, name)
	}
	return v, nil
}

func validName(name string) bool {
	const alphanumeric = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && strings.Trim(name[:1], alphanumeric) == "" && strings.Trim(name, alphanumeric+"-_.") == ""
}

// typeName returns the name of a value's type with the path of its package.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.PkgPath() == "" {
		return fmt.Sprintf("%T", v)
	}
	return t.PkgPath() + "." + t.Name()
}
