package jobmaster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

// receiver is a server that gets end notifications.
type receiver struct {
	sync.Mutex
	urls []string
	fail int           // how many requests fail first
	wait time.Duration // of each request
}

func (r *receiver) get(ctx context.Context, url string) error {
	r.Lock()
	defer r.Unlock()
	r.urls = append(r.urls, url)
	if r.wait > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.wait):
		}
	}
	if r.fail--; r.fail >= 0 {
		return errors.New("status 500")
	}
	return nil
}

func (r *receiver) requests() int {
	r.Lock()
	defer r.Unlock()
	return len(r.urls)
}

func (r *receiver) got() string {
	r.Lock()
	defer r.Unlock()
	return strings.Join(r.urls, " ")
}

// notifying runs a test on masters that notify a receiver.
func notifying(t *testing.T, masters int, r *receiver, play func(w *testCluster)) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(c *jobmaster.Config) { c.Notify = r.get }
		for range masters {
			w.addMaster()
		}
		w.elect(0)
		w.addTasknode("a", 2, 2)
		play(w)
	})
}

// notified returns a job that is to be notified, with further properties as NAME=VALUE.
func (w *testCluster) notified(properties ...string) *wire.JobSpec {
	spec := w.spec(1, 0)
	spec.Properties = map[string]string{"mapreduce.job.end-notification.url": "http://flow/?id=$jobId&state=$jobStatus"}
	for _, p := range properties {
		name, value, _ := strings.Cut(p, "=")
		spec.Properties["mapreduce.job.end-notification."+name] = value
	}
	return spec
}

func TestEndIsNotified(t *testing.T) {
	r := &receiver{}
	notifying(t, 1, r, func(w *testCluster) {
		id := w.submitSpec(w.notified())
		w.wait(id)
		w.sleep(time.Minute)
		if want := "http://flow/?id=" + id + "&state=SUCCEEDED"; r.got() != want {
			t.Errorf("got %q, want %q", r.got(), want)
		}
	})
}

func TestFailedNotificationsAreRetried(t *testing.T) {
	for name, c := range map[string]struct {
		fail       int
		properties []string
		want       int
	}{
		"no retry by default":     {3, nil, 1},
		"until one succeeds":      {2, []string{"retry.attempts=4"}, 3},
		"until there are no more": {9, []string{"retry.attempts=2"}, 3},
		"not above the bound":     {9, []string{"retry.attempts=8", "max.attempts=4"}, 4},
		"not above our bound":     {99, []string{"retry.attempts=50", "max.attempts=99"}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := &receiver{fail: c.fail}
			notifying(t, 1, r, func(w *testCluster) {
				w.wait(w.submitSpec(w.notified(c.properties...)))
				w.sleep(time.Minute)
				if r.requests() != c.want {
					t.Errorf("%d requests, want %d", r.requests(), c.want)
				}
			})
		})
	}
}

// TestNewLeaderNotifiesAgain changes the leader while the first one sends the notification. The second
// sends it, archives the job, and does not send it when it leads again.
func TestNewLeaderNotifiesAgain(t *testing.T) {
	r := &receiver{wait: 2 * time.Second}
	notifying(t, 2, r, func(w *testCluster) {
		id := w.submitSpec(w.notified())
		w.wait(id)
		w.sleep(time.Second) // the history is written, and the job not archived
		w.elect(1)
		w.sleep(time.Minute)
		if n := r.requests(); n != 2 {
			t.Errorf("%d requests, want 2: one of each leader", n)
		}
		w.elect(0)
		w.sleep(time.Minute)
		if n := r.requests(); n != 2 {
			t.Errorf("%d requests after the job was archived", n)
		}
	})
}

func TestOthersAreNotNotified(t *testing.T) {
	r := &receiver{}
	notifying(t, 1, r, func(w *testCluster) {
		w.wait(w.submitSpec(w.spec(1, 0)))
		w.sleep(time.Minute)
		if r.got() != "" {
			t.Errorf("got %q", r.got())
		}
	})
}
