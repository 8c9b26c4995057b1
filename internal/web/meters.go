package web

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/percentile"
)

// Meters count what a server does, for metrics. Any goroutine may read them.
type Meters struct {
	Watchers atomic.Int64    // clients that follow the cluster now
	Answers  [6]atomic.Int64 // answers since the start, by the first digit of their status
	times    *percentile.Window[time.Duration]
}

// latestAnswers is how many answers the quantiles of Times cover.
const latestAnswers = 1024

// NewMeters returns meters that have counted nothing.
func NewMeters() *Meters { return &Meters{times: percentile.NewWindow[time.Duration](latestAnswers)} }

// Times describes how long the latest answers took, without streams.
func (m *Meters) Times() percentile.Summary[time.Duration] { return m.times.Summary() }

// answered counts an answer.
func (m *Meters) answered(status int, took time.Duration, stream bool) {
	if status == 0 {
		status = http.StatusOK // the handler has written nothing
	}
	m.Answers[min(status/100, len(m.Answers)-1)].Add(1)
	if !stream {
		m.times.Add(took)
	}
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int // 0 before the answer begins
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
