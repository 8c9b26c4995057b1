package transfer

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
)

// fault is a kind of failure that a faulty handler injects into a request.
type fault int

const (
	sound   fault = iota
	broken        // answers with status 500
	busy          // answers with status 503
	hangUp        // closes the connection without an answer
	cut           // ends the body halfway
	damaged       // flips a bit of the body
	faultKinds
)

// faulty is a handler that injects network faults into a server's answers. choose selects
// the fault of each request.
type faulty struct {
	server http.Handler
	choose func(r *http.Request) fault
}

func (f faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind := f.choose(r)
	switch kind {
	case sound:
		f.server.ServeHTTP(w, r)
		return
	case broken:
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	case busy:
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case hangUp:
		panic(http.ErrAbortHandler)
	}
	answer := httptest.NewRecorder()
	f.server.ServeHTTP(answer, r)
	body := answer.Body.Bytes()
	for key, values := range answer.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(answer.Code)
	if kind == damaged {
		if len(body) > 0 {
			body[len(body)/2] ^= 4
		}
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:len(body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// injectAtRandom injects a fault into about one of every requests. Before each answer it
// yields a random number of times, so that answers arrive in random order.
func injectAtRandom(seed uint64, every int) func(*http.Request) fault {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	return func(*http.Request) fault {
		mu.Lock()
		turns, kind := r.IntN(200), fault(0)
		if r.IntN(every) == 0 {
			kind = 1 + fault(r.IntN(int(faultKinds)-1))
		}
		mu.Unlock()
		for range turns {
			runtime.Gosched()
		}
		return kind
	}
}

// always injects a fault into every request for the bytes of a run.
func always(kind fault) func(*http.Request) fault {
	return func(r *http.Request) fault {
		if r.URL.Query().Has(paramRun) && !r.URL.Query().Has(paramVerify) {
			return kind
		}
		return sound
	}
}

// onIndex injects a fault into every request for an index.
func onIndex(kind fault) func(*http.Request) fault {
	return func(r *http.Request) fault {
		if strings.HasSuffix(r.URL.Path, ".index") {
			return kind
		}
		return sound
	}
}

// first injects only the first n faults that choose selects.
func first(n int, choose func(*http.Request) fault) func(*http.Request) fault {
	var mu sync.Mutex
	return func(r *http.Request) fault {
		mu.Lock()
		defer mu.Unlock()
		kind := choose(r)
		if kind != sound {
			if n--; n < 0 {
				return sound
			}
		}
		return kind
	}
}
