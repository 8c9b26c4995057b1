package localcluster

import (
	"context"
	"fmt"
)

// Wait waits until ctx has ended, or every daemon that this process has started has ended.
// Then it ends the whole cluster and returns. It calls ended, which may be nil, for each
// daemon that ends before. `hammr up` calls it in the foreground; ctx ends at Ctrl-C.
func (c *Cluster) Wait(ctx context.Context, ended func(name, end string)) error {
	type exit struct{ name, end string }
	exits := make(chan exit, len(c.children))
	for _, child := range c.children {
		go func() {
			<-child.Exited
			exits <- exit{child.Name, child.ExitText()}
		}()
	}
	for left := len(c.children); left > 0; left-- {
		select {
		case <-ctx.Done():
			return c.down(ctx)
		case n := <-exits:
			if ended != nil {
				ended(n.name, n.end)
			}
		}
	}
	return c.down(ctx)
}

// down ends the whole cluster, also when ctx has ended, and waits for the children.
func (c *Cluster) down(ctx context.Context) error {
	_, err := Down(context.WithoutCancel(ctx), c.dir)
	c.starter.Close()
	if err != nil {
		return fmt.Errorf("end of the cluster: %w", err)
	}
	for _, child := range c.children {
		<-child.Exited
	}
	return nil
}

// Release leaves the daemons alone. They outlive this process if Config.Detach is set.
func (c *Cluster) Release() { c.starter.Close() }
