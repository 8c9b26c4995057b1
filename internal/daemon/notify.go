package daemon

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Notifier informs the service manager that has started the daemon, by the protocol of
// sd_notify.
//
//	starting ── Ready ──► READY=1 ──► Reloading: RELOADING=1, then READY=1
//	                        │    └──► Run: WATCHDOG=1 while check succeeds, STATUS=… when it changes
//	                        └── Stopping ──► STOPPING=1
//
// A nil *Notifier does nothing, for a daemon without a service manager. Any goroutine may call its methods.
type Notifier struct {
	logger *slog.Logger

	mu struct {
		sync.Mutex
		ready  bool
		status string // the last one that was sent
		failed bool   // a failure is in the log
	}
}

// NewNotifier makes a Notifier, nil if there is no service manager.
func NewNotifier(logger *slog.Logger) *Notifier {
	if os.Getenv(notifySocket) == "" {
		return nil
	}
	return &Notifier{logger: logger}
}

// notifySocket is the variable in which the service manager names its socket.
const notifySocket = "NOTIFY_SOCKET"

// Ready reports that the daemon serves.
func (n *Notifier) Ready() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mu.ready = true
	n.sendLocked(sd.SdNotifyReady)
}

// Reloading reports that the daemon loads its settings again. The caller calls finish when it
// has done that. A daemon that has not been ready yet reports neither.
func (n *Notifier) Reloading() (finish func()) {
	if n == nil {
		return func() {}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.mu.ready {
		return func() {}
	}
	n.sendLocked(sd.SdNotifyReloading, sd.SdNotifyMonotonicUsec())
	return n.Ready
}

// Stopping reports that the daemon ends.
func (n *Notifier) Stopping() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sendLocked(sd.SdNotifyStopping)
}

// statusInterval is the time between two checks of the status.
const statusInterval = time.Second

// Run reports until ctx ends. If the service manager wants signs of life (WATCHDOG_USEC), it
// sends them twice in that time as long as check returns nil; otherwise the service manager
// restarts the daemon. status describes in one line what the daemon does.
func (n *Notifier) Run(ctx context.Context, check func() error, status func() string) {
	if n == nil {
		return
	}
	limit, err := sd.SdWatchdogEnabled(false)
	if err != nil {
		n.logger.Warn("watchdog of the service manager is not used", "error", err)
	}
	interval := statusInterval
	if limit > 0 {
		interval = min(interval, limit/2)
	}
	var sentAt time.Time // last sign of life
	syncutil.Every(ctx, interval, func() {
		n.setStatus(status())
		// The next turn may be late, so the sign of life is sent a turn early.
		if limit > 0 && check() == nil && time.Since(sentAt) > limit/2-interval {
			sentAt = time.Now()
			n.sendAlive()
		}
	})
}

// setStatus sends the status if it has changed.
func (n *Notifier) setStatus(status string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if status != n.mu.status {
		n.mu.status = status
		n.sendLocked("STATUS=" + strings.ReplaceAll(status, "\n", " "))
	}
}

// sendAlive sends a sign of life.
func (n *Notifier) sendAlive() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sendLocked(sd.SdNotifyWatchdog)
}

// sendLocked sends assignments in one message. The daemon also works without its service
// manager, so a failure is only logged, and only the first of several in a row.
func (n *Notifier) sendLocked(assignments ...string) {
	_, err := sd.SdNotify(false, strings.Join(assignments, "\n"))
	if err != nil && !n.mu.failed {
		n.logger.Warn("cannot notify the service manager", "error", err)
	}
	n.mu.failed = err != nil
}
