package sshcluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
)

// Examination is what `hammr doctor` reports of a machine.
type Examination struct {
	Host   string
	Report []byte // a JSON document of package doctor; nil if Err is set
	Err    error  // why there is no report
}

// Examine runs `hammr doctor` on all machines, with the settings of their daemons. Each machine
// also connects to all daemons of the cluster that run.
func (c *Cluster) Examine(ctx context.Context) []Examination {
	all := make([]Examination, len(c.plan.Hosts))
	call := "examine " + hostfile.Quote(strings.Join(c.addresses(), ","))
	_ = c.each(ctx, c.all(), func(ctx context.Context, i int) error { // errors are in the examinations
		h := &c.plan.Hosts[i]
		all[i].Host = h.Name
		if c.surveys[i] == nil {
			all[i].Err = c.errs[i]
			return nil
		}
		if c.surveys[i].program == "" {
			all[i].Err = fmt.Errorf("%s: it has no program hammr; 'hammr cluster start' copies it there", h.Name)
			return nil
		}
		text, err := c.shell.run(ctx, h, c.plan.script(h, call))
		// What the login of the machine prints comes first.
		if begin := strings.Index(text, "{\n"); err == nil && begin >= 0 {
			all[i].Report = []byte(text[begin:])
		} else if err == nil {
			err = fmt.Errorf("%s: its program printed no report", h.Name)
		}
		all[i].Err = err
		return nil
	})
	return all
}

// addresses returns the addresses of the daemons that run.
func (c *Cluster) addresses() (addresses []string) {
	for i := range c.plan.Hosts {
		h, s := &c.plan.Hosts[i], c.surveys[i]
		for _, role := range h.hammrRoles() {
			if s != nil && s.runs(role) {
				addresses = append(addresses, h.address(role))
			}
		}
	}
	return addresses
}
