package sshcluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/ops/launch"
)

// checkStaging checks that all machines see a staging directory that is mounted: the first
// makes a file there for which the others look. Where its user may not write, nothing is
// checked.
func (c *Cluster) checkStaging(ctx context.Context) error {
	u, err := url.Parse(c.plan.Staging)
	if err != nil || u.Scheme != "file" || len(c.plan.Hosts) == 1 {
		return nil
	}
	first := &c.plan.Hosts[0]
	text, err := c.shell.run(ctx, first, c.plan.script(first, "share "+hostfile.Quote(u.Path)+" .hammr-"+launch.NewToken()))
	if err != nil {
		return err
	}
	_, file, found := strings.Cut(strings.TrimSpace(text), "shared=")
	if !found {
		return nil
	}
	err = c.each(ctx, c.all(), func(ctx context.Context, i int) error {
		h := &c.plan.Hosts[i]
		call := fmt.Sprintf("[ -e %s ] || fail %s", hostfile.Quote(file), hostfile.Quote(fmt.Sprintf("it does not see %s of %s; --staging must be on a file system that all machines see", path.Dir(file), first.Name)))
		_, err := c.shell.run(ctx, h, c.plan.script(h, call))
		return err
	})
	_, removal := c.shell.run(context.WithoutCancel(ctx), first, c.plan.script(first, "rm -f "+hostfile.Quote(file)))
	return errors.Join(err, removal)
}
