package hdfs

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	krb "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/spnego"
)

// webHDFS calls the NameNode over HTTP for two operations that the module's RPC client lacks:
// block locations and CONCAT. Its connections are kept open between calls.
type webHDFS struct {
	bases     []string // "http://host:port/webhdfs/v1"
	user      string   // "" with Kerberos
	transport *http.Transport
	do        func(*http.Request) (*http.Response, error)
}

// webError is an exception of the NameNode over HTTP, as {"RemoteException":
// {"javaClassName": …, "message": …}}. Its class decides whether to try another NameNode.
type webError struct {
	Class   string `json:"javaClassName"`
	Message string `json:"message"`
}

// Error returns the class and the first line of the message. The other lines are a Java
// stack trace.
func (e *webError) Error() string {
	message, _, _ := strings.Cut(e.Message, "\n")
	return e.Class + ": " + message
}

// errUnreachable means that no NameNode answers over HTTP.
var errUnreachable = errors.New("WebHDFS cannot be reached; set dfs.namenode.http-address, or dfs.webhdfs.enabled on the cluster")

// newWebHDFS returns a webHDFS and makes no connection. With Kerberos it authenticates by
// SPNEGO, and otherwise by the name of the user in the query.
func newWebHDFS(cfg *Config, kerberos *krb.Client) *webHDFS {
	w := &webHDFS{user: cfg.User}
	for _, address := range cfg.HTTPAddresses {
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
		w.bases = append(w.bases, strings.TrimRight(address, "/")+"/webhdfs/v1")
	}
	w.transport = &http.Transport{
		DialContext:         cfg.dialer(cfg.NameNodeTimeout).DialContext,
		MaxIdleConnsPerHost: 32, // one connection for each concurrent request that locates the files of a large job
		IdleConnTimeout:     cfg.RetryTimeout,
		TLSClientConfig:     &tls.Config{RootCAs: cfg.WebRoots},
	}
	client := &http.Client{Transport: w.transport, Timeout: cfg.NameNodeTimeout}
	w.do = client.Do
	if kerberos != nil {
		w.user = ""
		w.do = negotiate(client, kerberos, cfg.WebPrincipal)
	}
	return w
}

// negotiate returns a function that sends requests with SPNEGO. All requests share the
// client's connections, and the cookies by which a NameNode recognizes an authenticated client.
//
// spnego.NewClient changes the client that it gets, so each request has a copy.
func negotiate(client *http.Client, kerberos *krb.Client, principal string) func(*http.Request) (*http.Response, error) {
	client.Jar, _ = cookiejar.New(nil) // fails only for invalid options
	return func(r *http.Request) (*http.Response, error) {
		own := *client
		return spnego.NewClient(kerberos, &own, servicePrincipal(principal, r.URL.Hostname())).Do(r)
	}
}

// servicePrincipal returns the name of a web server's Kerberos service at a host.
func servicePrincipal(principal, host string) string {
	name, _, _ := strings.Cut(cmp.Or(principal, "HTTP/_HOST"), "@")
	return strings.ReplaceAll(name, "_HOST", strings.ToLower(host))
}

// close ends idle connections. Calls in progress end by their own timeout.
func (w *webHDFS) close() { w.transport.CloseIdleConnections() }

// call executes an operation on a path with the first active NameNode. It decodes the answer
// into result, unless result is nil.
func (w *webHDFS) call(ctx context.Context, method, path string, query url.Values, result any) error {
	if w.user != "" {
		query.Set("user.name", w.user)
	}
	var errs []error
	for _, base := range w.bases {
		err := w.callOne(ctx, method, base, path, query, result)
		var remote *webError
		if err == nil || ctx.Err() != nil || errors.As(err, &remote) && remote.Class != standbyException {
			return err
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("%w: %w", errUnreachable, errors.Join(errs...))
}

// callOne executes an operation with one NameNode. The path may have any characters; url.URL
// escapes them.
func (w *webHDFS) callOne(ctx context.Context, method, base, path string, query url.Values, result any) error {
	address, err := url.Parse(base)
	if err != nil {
		return fmt.Errorf("WebHDFS address %s: %w", base, err)
	}
	address = address.JoinPath() // a copy
	address.Path += path
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, address.String(), nil)
	if err != nil {
		return err
	}
	response, err := w.do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	const limit = 256 << 20
	body, err := io.ReadAll(io.LimitReader(response.Body, limit))
	if err != nil {
		return err
	}
	return decodeAnswer(response, body, result)
}

// decodeAnswer returns the exception of the NameNode if there is one. A proxy may answer
// instead; then the error has the status line.
func decodeAnswer(response *http.Response, body []byte, result any) error {
	if response.StatusCode != http.StatusOK {
		var answer struct{ RemoteException *webError }
		if json.Unmarshal(body, &answer) == nil && answer.RemoteException != nil {
			return answer.RemoteException
		}
		return fmt.Errorf("WebHDFS answers %s", response.Status)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(body, result); err != nil {
		return fmt.Errorf("answer of WebHDFS: %w", err)
	}
	return nil
}
