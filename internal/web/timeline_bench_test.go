package web

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/apidoc"
	"github.com/hammr/hammr/internal/web/browsertest"
)

// addManyAttempts gives the first job of a fake cluster as many maps as asked, on 250 nodes of four slots.
// Each tenth is preempted by a checkpoint and continues on another node.
func (f *fakeSource) addManyAttempts(maps int) {
	const nodes, slots = 250, 4
	w := work{columns: apidoc.TaskColumns{Stages: []string{"m"}, Types: []string{"MAP"}, Nodes: []string{""}, States: []string{"SUCCEEDED", "RUNNING", "PENDING"}, Places: []string{"unknown", "node"}}}
	for i := range nodes {
		w.nodes = append(w.nodes, fmt.Sprintf("n%03d", i))
	}
	w.columns.Nodes = append(w.columns.Nodes, w.nodes...)
	w.at = atMillis - int64(maps/(nodes*slots)+2)*8000
	for i := range maps {
		node, round := i%nodes, i/(nodes*slots)
		start := w.at + int64(round)*8000 + int64(i*7919%900)
		end := start + 6000 + int64(i*104729%1000)
		id, on := fmt.Sprintf("m_%06d_0", i), w.nodes[node]
		w.add(start, "start", id, on)
		if i%10 == 9 {
			w.add(start+2000, "order", id, on).Mode = "checkpoint"
			w.add(start+2500, "checkpoint", id, on).Bytes = 3 << 20
			next := fmt.Sprintf("m_%06d_1", i)
			w.add(start+2600, "continue", next, w.nodes[(node+1)%nodes]).Source = "attempt_1763700000000_0001_" + id
			w.add(end, "finish", next, w.nodes[(node+1)%nodes])
		} else {
			w.add(end, "finish", id, on)
		}
		w.task(0, i, start, end, end-start, 1<<20, node, 1)
	}
	slices.SortStableFunc(w.events, func(a, b apidoc.Event) int { return int(a.At - b.At) })
	f.events[aJob] = apidoc.Events{Events: w.events}
	f.columns[aJob] = &w.columns
}

// BenchmarkTimelineInBrowser opens the timeline of a job with 110,000 attempts and drags it. It reports,
// in ms, when the browser has drawn the picture of the server and when the canvas has replaced it, and
// the 95th percentile of the time between two frames while the canvas is dragged.
func BenchmarkTimelineInBrowser(b *testing.B) {
	browser := browsertest.Start(b)
	f := newFake("nightly sort")
	f.addManyAttempts(100_000)
	server := serveFake(b, f)
	tab := browser.Open(b, browsertest.View{})
	signIn(tab, server)
	page := server + "/jobs/" + aJob + "/timeline"
	tab.Go(page) // the server reads the events of the job once
	var painted, drawn, frames []float64
	for b.Loop() {
		tab.Go(page)
		drawn = append(drawn, browsertest.Eval[float64](tab, `new Promise((done) => {
			const look = () => requestAnimationFrame(() => document.querySelector("#timeline canvas") ? requestAnimationFrame(() => done(performance.now())) : look());
			look(); })`))
		painted = append(painted, browsertest.Eval[float64](tab, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
		tab.Press("+")
		frames = append(frames, browsertest.Eval[[]float64](tab, `new Promise((done) => {
			const canvas = document.querySelector("#timeline canvas"), box = canvas.getBoundingClientRect(), times = [];
			const send = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 40, pointerId: 1, bubbles: true }));
			canvas.setPointerCapture = () => {};
			send("pointerdown", 400);
			const step = (now) => {
				times.push(now);
				send("pointermove", 400 + times.length * 3);
				if (times.length < 90) requestAnimationFrame(step);
				else { send("pointerup", 0); done(times.slice(1).map((t, i) => t - times[i])); }
			};
			requestAnimationFrame(step); })`)...)
	}
	for unit, times := range map[string][]float64{"painted-ms": painted, "canvas-ms": drawn} {
		slices.Sort(times)
		b.ReportMetric(times[len(times)/2], unit)
	}
	slices.Sort(frames)
	b.ReportMetric(frames[len(frames)*95/100], "frame-p95-ms")
	b.ReportMetric(frames[len(frames)/2], "frame-median-ms")
}
