package tasknoded

import (
	"context"
	"fmt"

	"github.com/hammr/hammr/internal/daemon/notice"
	"github.com/hammr/hammr/internal/docs/apidoc"
)

// Values of Config.Cloud that are not names of clouds.
const (
	CloudOff  = "off"  // no notices are watched
	CloudAuto = "auto" // the cloud of the machine's firmware, none if that names none
)

// Clouds are the values of Config.Cloud.
func Clouds() []string {
	return []string{CloudOff, notice.CloudAWS, notice.CloudGCP, notice.CloudAzure, CloudAuto}
}

// watchNotices drains this tasknode when the cloud says that it will stop the machine, until ctx
// ends.
func (d *Daemon) watchNotices(ctx context.Context) {
	cloud := d.cfg.Cloud
	if cloud == CloudAuto {
		var err error
		if cloud, err = notice.Detect(); err != nil {
			d.cfg.Logger.Info("no notices of a cloud are watched", "error", err)
			return
		}
	}
	source, err := notice.NewSource(cloud, notice.Address)
	if err != nil {
		d.cfg.Logger.Error("no notices of a cloud are watched", "error", err)
		return
	}
	defer source.Close() // returns no error
	w, err := notice.New(notice.Config{Source: source, Drainer: &drainer{calls: d.masterCalls()}, Kinds: d.cfg.noticeKinds(), Logger: d.cfg.Logger})
	if err != nil {
		d.cfg.Logger.Error("no notices of a cloud are watched", "error", err)
		return
	}
	d.cfg.Logger.Info("notices of the cloud are watched", "cloud", cloud, "kinds", d.cfg.CloudNotices)
	w.Run(ctx)
}

// drainer implements notice.Drainer as `hammr node drain --local` does: the next start of the
// tasknode ends the draining too.
type drainer struct {
	calls   nodeCalls
	began   bool // this process has ordered the draining
	earlier bool // the tasknode got no tasks before that: a user, or an earlier program of this process, has excluded it
}

// nodeCalls are calls to the masters about this tasknode.
type nodeCalls interface {
	status(ctx context.Context) (apidoc.Tasknode, error)
	drain(ctx context.Context) error // until the next start
	admit(ctx context.Context) error
}

// Drain implements notice.Drainer.
func (d *drainer) Drain(ctx context.Context) (left string, err error) {
	n, err := d.calls.status(ctx)
	if err != nil {
		return "", err
	}
	if !n.Draining {
		if !d.began {
			d.earlier = n.State == decommissioning || n.State == decommissioned
		}
		if err := d.calls.drain(ctx); err != nil {
			return "", err
		}
		d.began = true
		if n, err = d.calls.status(ctx); err != nil {
			return "", err
		}
	}
	if n.State == decommissioned {
		return "", nil
	}
	return fmt.Sprintf("%d attempts, %d outputs, %d checkpoints", len(n.Attempts), len(n.Outputs), len(n.Checkpoints)), nil
}

// Undo implements notice.Drainer. It does not give tasks to a tasknode that a user has excluded.
func (d *drainer) Undo(ctx context.Context) error {
	if d.began && !d.earlier {
		if err := d.calls.admit(ctx); err != nil {
			return err
		}
	}
	d.began, d.earlier = false, false
	return nil
}
