// Package validate has the check that every Validate method of a configuration uses. A
// Validate method reports all problems at once, in the order of the checks:
//
//	return errors.Join(
//		validate.That(c.Dir != "", "artifact: no Dir"),
//		validate.That(c.MaxBytes >= 0, "artifact: MaxBytes is %d, less than 0", c.MaxBytes),
//	)
package validate

import "fmt"

// That returns nil if ok is true. Otherwise it returns an error with the formatted problem.
// The text begins with the package or the flag that has the problem.
func That(ok bool, problem string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(problem, args...)
}
