package all

import (
	"maps"

	"github.com/hammr/hammr/preempt"
)

// MinRun is the setting, of every policy, that says for how many ms an attempt that
// has been resumed runs at least before its slot may be taken again.
const MinRun = "hammr.preempt.min.run"

// takeMinRun takes MinRun out of what a policy is set to, if it is there.
func takeMinRun(policy string, conf map[string]string, means *preempt.Means) (rest map[string]string, err error) {
	text, set := conf[MinRun]
	if !set {
		return conf, nil
	}
	s := settings{policy: policy, conf: map[string]string{MinRun: text}}
	if ms := s.span(MinRun); ms != 0 {
		means.MinRunMillis = ms
	}
	rest = maps.Clone(conf)
	delete(rest, MinRun)
	return rest, s.err()
}
