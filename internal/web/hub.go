package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/docs"
)

// hub finds out what has changed in the cluster, for everybody who watches it. While there are
// watchers, it asks the source once in an interval for each topic that one of them watches, whatever
// their number, and compares fingerprints of the answers:
//
//	source ──► fingerprints ──► watcher.changed ──► read deadline ──► goroutine of each watcher
//
// A watcher that reads slowly misses nothing: its changes are a set of topics, so several are one. The
// hub never waits for a watcher. Without watchers it has no goroutine.
//
// Fingerprints depend only on the answers, so those of all masters are the same for the same state. So
// a watcher continues at another master: the id of an event is a fingerprint of all its topics.
type hub struct {
	source   docs.Source
	interval time.Duration
	joined   sync.WaitGroup // watchers that have not left

	mu struct {
		sync.Mutex
		watchers   map[*watcher]bool
		prints     map[string]uint64 // fingerprints of the topics that are watched
		generation uint64            // number of rounds that have found a change
		closed     bool              // no watcher may join
		stop       context.CancelFunc
		done       chan struct{} // closed when the goroutine has ended
	}
}

// watcher is one client that watches topics.
type watcher struct {
	topics  []string // sorted
	conn    net.Conn // its read deadline passes after a change; nil before attach. Guarded by the hub.
	changed []string // topics that have changed since the last event; guarded by the hub
}

const (
	watchInterval = time.Second
	maxWatchers   = 1000
	maxTopics     = 8  // of a watcher
	maxAsked      = 16 // topics about which the source is asked at the same time
	topicTime     = 10 * time.Second
)

func newHub(source docs.Source) *hub {
	h := &hub{source: source, interval: watchInterval}
	h.mu.watchers, h.mu.prints = make(map[*watcher]bool), make(map[string]uint64)
	return h
}

// parseTopics returns the topics of a list that is joined by commas.
func parseTopics(text string) ([]string, error) {
	topics := strings.Split(text, ",")
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) > maxTopics {
		return nil, docs.Bad("topics", fmt.Sprintf("has %d topics; at most %d are accepted", len(topics), maxTopics))
	}
	for _, t := range topics {
		if kind, id, _ := strings.Cut(t, "/"); !slices.Contains(allTopics, kind) || (kind == "job") != (id != "") {
			return nil, docs.Bad("topics", fmt.Sprintf("%.100q: expected some of %s/ID", t, strings.Join(allTopics, ", ")))
		}
	}
	return topics, nil
}

// allTopics are the kinds of topics. The last one is followed by the id of a job.
var allTopics = []string{"jobs", "masters", "nodes", "pools", "scheduler", "job"}

// join adds a watcher. The caller calls leave at the end.
func (h *hub) join(ctx context.Context, topics []string) (*watcher, error) {
	w := &watcher{topics: topics}
	h.mu.Lock()
	if h.mu.closed {
		h.mu.Unlock()
		return nil, fmt.Errorf("this server stops: %w", docs.ErrUnavailable)
	}
	if len(h.mu.watchers) >= maxWatchers {
		h.mu.Unlock()
		return nil, fmt.Errorf("%d clients watch the cluster through this server, which are as many as it accepts: %w", maxWatchers, docs.ErrUnavailable)
	}
	h.mu.watchers[w] = true
	h.joined.Add(1)
	if len(h.mu.watchers) == 1 {
		run, stop := context.WithCancel(context.Background())
		h.mu.stop, h.mu.done = stop, make(chan struct{})
		go h.run(run, h.mu.done)
	}
	var unknown []string
	for _, t := range topics {
		if _, known := h.mu.prints[t]; !known {
			unknown = append(unknown, t)
		}
	}
	h.mu.Unlock()
	h.update(ctx, unknown)
	return w, nil
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// attach sets the connection of a watcher.
func (h *hub) attach(w *watcher, conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.conn = conn; h.mu.closed {
		_ = conn.Close()
	}
}

// close closes the connections of all watchers, and waits until they have left.
func (h *hub) close() {
	h.mu.Lock()
	h.mu.closed = true
	for w := range h.mu.watchers {
		if w.conn != nil {
			_ = w.conn.Close()
		}
	}
	h.mu.Unlock()
	h.joined.Wait()
}

// leave removes a watcher. After the last one it waits for the end of the hub's goroutine.
func (h *hub) leave(w *watcher) {
	defer h.joined.Done()
	h.mu.Lock()
	delete(h.mu.watchers, w)
	var done chan struct{}
	if len(h.mu.watchers) == 0 {
		h.mu.stop()
		done = h.mu.done
		clear(h.mu.prints)
	}
	h.mu.Unlock()
	if done != nil {
		<-done
	}
}

// run asks for changes until ctx ends.
func (h *hub) run(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(h.interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.update(ctx, h.watched())
		}
	}
}

// watched returns the topics that are watched. It forgets the others.
func (h *hub) watched() (topics []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	used := make(map[string]bool)
	for w := range h.mu.watchers {
		for _, t := range w.topics {
			used[t] = true
		}
	}
	for t := range h.mu.prints {
		if !used[t] {
			delete(h.mu.prints, t)
		}
	}
	return slices.Sorted(maps.Keys(used))
}

// update asks for some topics, and wakes the watchers of those that have changed. A topic about which
// the source gives no answer counts as unchanged.
func (h *hub) update(ctx context.Context, topics []string) {
	prints := make([]uint64, len(topics))
	var all sync.WaitGroup
	free := make(chan struct{}, maxAsked)
	for i, t := range topics {
		free <- struct{}{}
		all.Go(func() {
			prints[i] = h.print(ctx, t)
			<-free
		})
	}
	all.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := make(map[string]bool)
	for i, t := range topics {
		if was, known := h.mu.prints[t]; prints[i] != 0 && was != prints[i] {
			h.mu.prints[t] = prints[i]
			changed[t] = known
		}
	}
	woken := false
	for w := range h.mu.watchers {
		for _, t := range w.topics {
			if changed[t] && !slices.Contains(w.changed, t) {
				w.changed = append(w.changed, t)
			}
		}
		if len(w.changed) > 0 {
			woken = true
			if w.conn != nil {
				_ = w.conn.SetReadDeadline(longAgo) // its client may have closed it
			}
		}
	}
	if woken {
		h.mu.generation++
	}
}

// take returns the topics that have changed for a watcher since the last call, and the id of the
// present state of its topics.
func (h *hub) take(w *watcher) (changed []string, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, w.changed = w.changed, nil
	sum := xxhash.New()
	for _, t := range w.topics {
		fmt.Fprintf(sum, "%s %x\n", t, h.mu.prints[t])
	}
	return changed, fmt.Sprintf("%016x", sum.Sum64())
}

// round returns the number of rounds that have found a change, and whether there are watchers. What is
// read from the source from now on is at least as new as that round.
func (h *hub) round() (generation uint64, watched bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.generation, len(h.mu.watchers) > 0
}

// print returns the fingerprint of a topic, 0 if the source gives no answer now. Whether the source
// lacks newer values is a part of it, since pages say so.
func (h *hub) print(ctx context.Context, topic string) uint64 {
	ctx, cancel := context.WithTimeout(ctx, topicTime)
	defer cancel()
	kind, id, _ := strings.Cut(topic, "/")
	switch kind {
	case "jobs":
		return h.printJobs(ctx)
	case "job":
		job, line := printOf(docs.Job.Read(ctx, h.source, docs.JobID{Job: id})), printOf(docs.Line.Read(ctx, h.source, docs.JobID{Job: id}))
		return job ^ line<<1
	case "nodes":
		return printOf(docs.Nodes.Read(ctx, h.source, docs.No{}))
	case "pools":
		return printOf(docs.Pools.Read(ctx, h.source, docs.No{}))
	case "masters":
		return printOf(docs.Masters.Read(ctx, h.source, docs.No{}))
	}
	return printOf(docs.Policy.Read(ctx, h.source, docs.No{}))
}

// printJobs returns the fingerprint of the list of jobs. Of the jobs beyond its first page only those can change that
// have not ended: the counts on the first page cover the others.
func (h *hub) printJobs(ctx context.Context) uint64 {
	first, err := docs.Jobs.Read(ctx, h.source, docs.JobQuery{Page: docs.Page{Limit: docs.MaxLimit}})
	print := printOf(first, err)
	if err != nil || first.Value.Next == "" {
		return print
	}
	q := docs.JobQuery{States: []string{"PREP", "RUNNING"}, Page: docs.Page{Limit: docs.MaxLimit}} // also suspended ones
	for {
		a, err := docs.Jobs.Read(ctx, h.source, q)
		if err != nil {
			return 0
		}
		print = cmp.Or(print*31^printOf(a, nil), 1)
		if q.Cursor = a.Value.Next; q.Cursor == "" {
			return print
		}
	}
}

// printOf returns the fingerprint of an answer of a source.
func printOf[T any](a docs.Answer[T], err error) uint64 {
	if err != nil {
		return 0
	}
	sum := xxhash.New()
	if json.NewEncoder(sum).Encode(a.Value) != nil {
		return 0
	}
	fmt.Fprint(sum, a.Stale != nil)
	return cmp.Or(sum.Sum64(), 1)
}
