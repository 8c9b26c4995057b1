package notice

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Address is the base of the metadata service of every cloud: an address of the link.
const Address = "http://169.254.169.254"

const (
	// answerTimeout bounds a request, beyond the time for which the service waits itself.
	answerTimeout = 5 * time.Second
	// maxAnswer bounds an answer in bytes.
	maxAnswer = 1 << 20
)

// errNotFound is the answer of a service for what it does not have.
var errNotFound = errors.New("not found")

// service asks a metadata service over HTTP.
type service struct {
	base string
	http *http.Client
}

// newService makes a service. No proxy is used, since the address is one of the link, and no
// redirection is followed: an answer of anything but the service is not trusted.
func newService(base string) *service {
	return &service{base: base, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConns: 2, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the connections. No request may be under way.
func (s *service) Close() error {
	s.http.CloseIdleConnections()
	return nil
}

// request is a request to a metadata service.
type request struct {
	method  string // default GET
	path    string
	headers map[string]string
	body    []byte
	timeout time.Duration // default answerTimeout
}

// ask returns an answer with status 200. The error wraps errNotFound for status 404.
func (s *service) ask(ctx context.Context, q request) (body []byte, header http.Header, err error) {
	if q.method == "" {
		q.method = http.MethodGet
	}
	if q.timeout == 0 {
		q.timeout = answerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, q.method, s.base+q.path, bytes.NewReader(q.body))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range q.headers {
		r.Header.Set(name, value)
	}
	answer, err := s.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close() // the answer is read to its end
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
	case answer.StatusCode == http.StatusNotFound:
		return nil, nil, fmt.Errorf("%s %s: %w", q.method, q.path, errNotFound)
	case answer.StatusCode != http.StatusOK:
		return nil, nil, &statusError{q.method, q.path, answer.StatusCode}
	}
	return body, answer.Header, nil
}

// statusError is an answer with another status than 200 and 404.
type statusError struct {
	method, path string
	status       int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: the metadata service answers with status %d %s", e.method, e.path, e.status, http.StatusText(e.status))
}
