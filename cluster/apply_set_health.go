package cluster

import "fmt"

// SetHealth records why a machine is unhealthy, or that it is healthy again. An unhealthy
// machine gets no new tasks. Its attempts continue, and it serves its output.
type SetHealth struct {
	Name      string `cbor:"Name"`
	Unhealthy string `cbor:"Unhealthy"` // why; "" if it is healthy
}

func (c SetHealth) subject() any { return nil }

func (c SetHealth) apply(tx *transition, _ taskRef) error {
	m := tx.byName[c.Name]
	if m == nil {
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	}
	changed := (m.Unhealthy == "") != (c.Unhealthy == "")
	m.Unhealthy = truncated(c.Unhealthy, maxCauseBytes)
	if changed {
		tx.setSlots(m)
		tx.delta.Machines = append(tx.delta.Machines, c.Name)
	}
	return nil
}
