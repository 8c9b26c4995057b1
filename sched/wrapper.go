package sched

// Wrapper is a policy around another one, which has a say in what it decides. What
// the one inside can do beside being a Policy, a Wrapper passes on.
type Wrapper interface {
	// Unwrap is the policy inside.
	Unwrap() Policy
}

// Innermost is the policy inside of all that are around it; often that is p itself.
func Innermost(p Policy) Policy {
	for {
		w, ok := p.(Wrapper)
		if !ok {
			return p
		}
		p = w.Unwrap()
	}
}
