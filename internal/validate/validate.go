// Package validate has the one check that the Validate methods of configurations are
// made of. Every problem is reported at once, in the order of the checks:
//
//	return errors.Join(
//		validate.That(c.Dir != "", "artifact: no Dir"),
//		validate.That(c.MaxBytes >= 0, "artifact: MaxBytes is %d, less than 0", c.MaxBytes),
//	)
package validate

import "fmt"

// That returns nil if ok is true, and otherwise an error with the formatted problem. The
// text begins with the package or the flag that the problem is in.
func That(ok bool, problem string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(problem, args...)
}
