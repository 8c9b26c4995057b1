package jobmaster

import (
	"context"
	"strings"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// The leader fetches the URL that a job names in mapreduce.job.end-notification.url when the job is
// over. It does so at least once, also if it is lost meanwhile: a job is archived after its
// notification, and a new leader sends that of each job that is not archived. So a job whose leader
// is lost in these seconds may be notified twice.

// notifyWindow bounds the age of jobs whose notification a new leader sends again. Without it, jobs
// that cannot be archived would be notified at each change of the leader.
const notifyWindow = 10 * time.Minute

// notification is what a job's properties say about its end.
type notification struct {
	url      string
	attempts int           // at least 1
	interval time.Duration // between two of them
}

// Bounds of the properties, as Hadoop's defaults are. A job must be archived in the end.
const (
	maxNotifyAttempts = 10
	maxNotifyInterval = time.Minute
)

// notificationOf returns the notification of a job; its URL is "" if the job wants none.
func notificationOf(c *conf.Conf, id cluster.JobID, state cluster.JobState) notification {
	n := notification{
		url:      strings.NewReplacer("$jobId", id.String(), "$jobStatus", state.String()).Replace(c.String("mapreduce.job.end-notification.url")),
		attempts: 1 + c.Int("mapreduce.job.end-notification.retry.attempts"),
		interval: time.Duration(c.Int("mapreduce.job.end-notification.retry.interval")) * time.Millisecond,
	}
	n.attempts = max(1, min(n.attempts, c.Int("mapreduce.job.end-notification.max.attempts"), maxNotifyAttempts))
	n.interval = max(0, min(n.interval, time.Duration(c.Int("mapreduce.job.end-notification.max.retry.interval"))*time.Millisecond, maxNotifyInterval))
	return n
}

// notify starts the notification of a job that is over, unless it wants none.
func (m *Master) notify(j *cluster.Job) {
	if m.cfg.Notify == nil || m.now()-j.FinishedAt > notifyWindow.Milliseconds() {
		return
	}
	n := notificationOf(m.propertiesOf(j.ID, m.record(j.ID)), j.ID, j.State)
	if n.url == "" {
		return
	}
	done, id, l := make(chan struct{}), j.ID, m.lead
	m.archives.notifying[id] = done
	m.workers.Go(func() {
		defer close(done)
		if err := n.send(l.ctx, m.cfg.Notify); err != nil {
			m.cfg.Logger.Warn("end notification not delivered", "job", id, "attempts", n.attempts, "error", err)
		}
	})
}

// notifyAgain starts the notifications of jobs that an earlier leader has not archived.
func (m *Master) notifyAgain() {
	for j := range m.view.Jobs() {
		if j.State.Final() && !j.Archived {
			m.notify(j)
		}
	}
}

// afterNotification calls f in the loop when the notification of a job has ended, at once if the job
// has none.
func (m *Master) afterNotification(id cluster.JobID, f func()) {
	sent, l := m.archives.notifying[id], m.lead
	if sent == nil {
		f()
		return
	}
	m.workers.Go(func() {
		select {
		case <-sent:
			m.postUnder(l, func() { delete(m.archives.notifying, id); f() })
		case <-l.ctx.Done():
		}
	})
}

// send fetches the URL until an attempt succeeds. It returns the error of the last.
func (n notification) send(ctx context.Context, fetch func(ctx context.Context, url string) error) (err error) {
	for i := range n.attempts {
		if i > 0 && syncutil.Sleep(ctx, n.interval) != nil {
			return err
		}
		if err = fetch(ctx, n.url); err == nil {
			return nil
		}
	}
	return err
}
