package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/profile"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/internal/web/answers"
)

// maxAnswerBytes bounds an answer. The columns of a million tasks are smaller.
const maxAnswerBytes = 512 << 20

// request is a request to the API.
type request struct {
	path     string     // with its query
	form     url.Values // of a change; nil to read
	user     string     // who orders the change
	patience time.Duration
	anywhere bool // only one of the masters may know the object
}

// get reads a document of the API, or shares the answer of another reader.
func get[T any](ctx context.Context, s *Source, path string) (web.Answer[T], error) {
	a, err := answers.Ask(ctx, s.answers, path, func(ctx context.Context) (web.Answer[T], time.Duration, error) {
		a, err := call[T](ctx, s, request{path: path, patience: s.cfg.Patience})
		return a, freshness, err
	})
	if a.Stale != nil {
		a.Value.Stale = a.Stale
	}
	return a.Value, err
}

// call asks one master after the other until one answers that is not cut off from the others. If all of
// them are, it returns the first of their answers.
//
// A change may reach the cluster twice, as other calls to masters may: all changes can be repeated.
func call[T any](ctx context.Context, s *Source, r request) (web.Answer[T], error) {
	var old *web.Answer[T]
	var errs []error
	var unknown error // of a master that need not know the object
	for _, address := range s.order() {
		a, err := try[T](ctx, s, address, r)
		var answered *apiError
		switch {
		case err == nil && a.Stale == nil:
			s.prefer(address)
			return a, nil
		case err == nil:
			if old == nil {
				old = &a
			}
		case errors.As(err, &answered) && r.anywhere && answered.class == web.ErrUnknown:
			unknown = answered
		case errors.As(err, &answered) && answered.class != web.ErrUnavailable:
			return a, answered
		default:
			errs = append(errs, fmt.Errorf("%s: %w", address, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if old != nil {
		return *old, nil
	}
	if unknown != nil {
		return web.Answer[T]{}, unknown
	}
	return web.Answer[T]{}, noMaster(errs)
}

// noMaster returns the error if no master answers.
func noMaster(errs []error) error {
	return &apiError{web.ErrUnavailable, "no master answers: " + errors.Join(errs...).Error()}
}

// try asks one master.
func try[T any](ctx context.Context, s *Source, address string, r request) (a web.Answer[T], err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(r.patience, cancel) // until the answer begins; a long one may take longer
	answer, err := s.send(ctx, address, r)
	if !late.Stop() {
		err = errors.Join(errors.New("no answer"), err)
	}
	if err != nil {
		return a, err
	}
	defer answer.Body.Close() // it was only read
	body := io.LimitReader(answer.Body, maxAnswerBytes)
	if answer.StatusCode != http.StatusOK {
		return a, errorOf(answer, body)
	}
	if err := decode(answer.Header, body, &a.Value); err != nil {
		return a, fmt.Errorf("answer to %s: %w", r.path, err)
	}
	age, _ := strconv.ParseInt(answer.Header.Get("Hammr-Age"), 10, 64) // absent from answers without a time
	a.At = s.cfg.Now().Add(-time.Duration(age) * time.Millisecond)
	if stale := answer.Header.Get("Hammr-Stale"); stale != "" {
		a.Stale = errors.New(stale)
	}
	return a, nil
}

// decode reads an answer: a part of a log is text with headers, a profile is bytes, and others are JSON.
func decode(h http.Header, body io.Reader, value any) (err error) {
	if p, isProfile := value.(*web.ProfileData); isProfile {
		p.Note = h.Get(web.HeaderProfileNote)
		p.Bytes, err = io.ReadAll(io.LimitReader(body, profile.MaxBytes))
		return err
	}
	p, isLog := value.(*web.LogPart)
	if !isLog {
		return json.NewDecoder(body).Decode(value)
	}
	p.Text, err = io.ReadAll(body)
	p.Offset, _ = strconv.ParseInt(h.Get("Hammr-Log-Offset"), 10, 64) // masters send numbers
	p.Size, _ = strconv.ParseInt(h.Get("Hammr-Log-Size"), 10, 64)
	p.Complete = h.Get("Hammr-Log-Complete") == "true"
	return err
}

// send sends a request to a master.
func (s *Source) send(ctx context.Context, address string, r request) (*http.Response, error) {
	scheme, method, body := "http://", http.MethodGet, io.Reader(nil)
	if s.cfg.RPC.TLS != nil {
		scheme = "https://"
	}
	if r.form != nil {
		method, body = http.MethodPost, strings.NewReader(r.form.Encode())
	}
	if r.user != "" {
		ctx = rpc.WithUser(ctx, r.user)
	}
	q, err := http.NewRequestWithContext(ctx, method, scheme+address+r.path, body)
	if err != nil {
		return nil, err
	}
	if r.form != nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return s.client.Do(q)
}

// apiError is an error that a master has answered with.
type apiError struct {
	class error // of package web; nil for others
	text  string
}

func (e *apiError) Error() string { return e.text }
func (e *apiError) Unwrap() error { return e.class }

// classes are the classes of errors by their codes in answers. The API checks all other parameters
// before this package sends them, so a bad one is a cursor.
var classes = map[string]error{
	"unknown": web.ErrUnknown, "refused": web.ErrRefused, "unavailable": web.ErrUnavailable, "bad_parameter": web.ErrCursor,
}

// errorOf returns the error of an answer.
func errorOf(answer *http.Response, body io.Reader) error {
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "application/problem+json" {
		var p struct{ Code, Detail string }
		if err := json.NewDecoder(body).Decode(&p); err != nil {
			return fmt.Errorf("%s: %w", answer.Status, err)
		}
		class := classes[p.Code]
		if p.Code == "busy" {
			seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")) // 0 if time does not help
			class = &access.Refusal{Status: answer.StatusCode, Text: p.Detail, RetryAfter: time.Duration(seconds) * time.Second}
		}
		return &apiError{class, p.Detail}
	}
	text, _ := io.ReadAll(io.LimitReader(body, 1000)) // what is readable explains the status
	return fmt.Errorf("%s: %s", answer.Status, strings.TrimSpace(string(text)))
}
