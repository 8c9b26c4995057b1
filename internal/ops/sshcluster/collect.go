package sshcluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// CollectLogs writes the logs of all daemons into a directory of this machine, as
// HOST-ROLE.log. Logs that were rotated stay where they are.
func (c *Cluster) CollectLogs(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		h := &c.plan.Hosts[i]
		var errs []error
		for _, role := range h.Roles() {
			text, err := c.shell.run(ctx, h, c.plan.script(h, "logs "+role))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, h.Name+"-"+role+".log"), []byte(text), 0o644)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
}
