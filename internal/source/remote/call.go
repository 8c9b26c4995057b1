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

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/logs/profile"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/access"
)

// maxAnswerBytes bounds an answer. The columns of a million tasks are smaller.
const maxAnswerBytes = 512 << 20

// request is a request to the API.
type request struct {
	path     string     // with its query
	form     url.Values // of a change; nil to read
	user     string     // who orders the change
	patience time.Duration
	decode   func(http.Header, io.Reader) (any, error)
}

// call asks one master after the other until one answers that is not cut off from the others. If all of
// them are, it returns the first of their answers, or else what the last one says that cannot answer.
//
// A change may reach the cluster twice, as other calls to masters may: all changes can be repeated.
func (s *Source) call(ctx context.Context, r request) (docs.Answer[any], error) {
	var old *docs.Answer[any]
	var unable *apiError
	var errs []error
	for _, address := range s.order() {
		a, err := s.try(ctx, address, r)
		var answered *apiError
		switch {
		case err == nil && a.Stale == nil:
			s.prefer(address)
			return a, nil
		case err == nil:
			if old == nil {
				old = &a
			}
		case errors.As(err, &answered) && answered.class != docs.ErrUnavailable:
			return a, answered
		case answered != nil:
			unable = answered
		default:
			errs = append(errs, fmt.Errorf("%s: %w", address, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	switch {
	case old != nil:
		return *old, nil
	case unable != nil:
		return docs.Answer[any]{}, unable
	}
	return docs.Answer[any]{}, noMaster(errs)
}

// noMaster returns the error if no master answers.
func noMaster(errs []error) error {
	return &apiError{docs.ErrUnavailable, "no master answers: " + errors.Join(errs...).Error()}
}

// try asks one master.
func (s *Source) try(ctx context.Context, address string, r request) (a docs.Answer[any], err error) {
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
	if a.Value, err = r.decode(answer.Header, body); err != nil {
		return a, fmt.Errorf("answer to %s: %w", r.path, err)
	}
	age, _ := strconv.ParseInt(answer.Header.Get("Hammr-Age"), 10, 64) // absent from answers without a time
	a.At = s.cfg.Now().Add(-time.Duration(age) * time.Millisecond)
	if stale := answer.Header.Get("Hammr-Stale"); stale != "" {
		a.Stale = errors.New(stale)
	}
	return a, nil
}

// decodeLog reads a part of a log: text with headers.
func decodeLog(h http.Header, body io.Reader) (any, error) {
	text, err := io.ReadAll(body)
	p := docs.LogPart{Text: text, Complete: h.Get("Hammr-Log-Complete") == "true"}
	p.Offset, _ = strconv.ParseInt(h.Get("Hammr-Log-Offset"), 10, 64) // masters send numbers
	p.Size, _ = strconv.ParseInt(h.Get("Hammr-Log-Size"), 10, 64)
	return p, err
}

// decodeProfile reads a profile: bytes, with a header.
func decodeProfile(h http.Header, body io.Reader) (any, error) {
	text, err := io.ReadAll(io.LimitReader(body, profile.MaxBytes))
	return docs.ProfileData{Bytes: text, Note: h.Get(docs.HeaderProfileNote)}, err
}

func decodeChange(_ http.Header, body io.Reader) (any, error) {
	var done apidoc.Change
	err := json.NewDecoder(body).Decode(&done)
	return done, err
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
	class error // of package docs; nil for others
	text  string
}

func (e *apiError) Error() string { return e.text }
func (e *apiError) Unwrap() error { return e.class }

// classes are the classes of errors by their codes in answers. The API checks all other parameters
// before this package sends them, so a bad one is a cursor.
var classes = map[string]error{
	"unknown": docs.ErrUnknown, "refused": docs.ErrRefused, "unavailable": docs.ErrUnavailable, "bad_parameter": docs.ErrCursor,
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
