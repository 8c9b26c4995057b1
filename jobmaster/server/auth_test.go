package server_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
	"github.com/hammr/hammr/tasknode/masterlink"
)

func TestUnauthorizedCallersAreRefused(t *testing.T) {
	r := newRig(t, 1)
	address := r.masters[0].address
	for name, test := range map[string]struct {
		change func(*rpc.Config)
		want   string
	}{
		"wrong token": {
			func(c *rpc.Config) { c.Token = "guess" },
			address + ": the token is not that of cluster " + clusterID + "; name the file of the cluster's with --token-file or HAMMR_TOKEN_FILE",
		},
		"no token": {
			func(c *rpc.Config) { c.Token, c.ClusterID = "", "" },
			address + ": cluster " + clusterID + " needs its token",
		},
		"wrong cluster": {
			func(c *rpc.Config) { c.ClusterID = "17" },
			address + ": a master of cluster " + clusterID + ", not of 17",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := calls(address)
			test.change(&cfg)
			_, err := r.clientWith(cfg).Info(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("client: %v", err)
			}
			err = <-r.nodeWith("n", &launcher{}, cfg)
			if !errors.Is(err, tasknode.ErrRefused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("tasknode: %v", err)
			}
		})
	}
}

func TestCallersWithoutAClusterAreAccepted(t *testing.T) {
	r := newRig(t, 1)
	cfg := calls(r.masters[0].address)
	cfg.ClusterID = ""
	if _, err := docs.AllJobs.From(t.Context(), r.clientWith(cfg), docs.AllQuery{Finished: docs.Yes}); err != nil {
		t.Error(err)
	}
}

func TestNameOfAnotherTasknode(t *testing.T) {
	r := newRig(t, 1)
	r.node("n1", &launcher{})
	c := r.client()
	for nodes, err := docs.Nodes.From(t.Context(), c, docs.No{}); len(nodes) == 0 || nodes[0].State != "RUNNING"; nodes, err = docs.Nodes.From(t.Context(), c, docs.No{}) {
		must.Do(t, err)
	}
	masters, err := rpc.New(calls(r.masters[0].address))
	must.Do(t, err)
	defer masters.Close()
	hello := &wire.Report{Machine: "n1", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "another"}}}
	_, err = masterlink.NewLink(masters).Connect(t.Context(), hello)
	if err == nil || errors.Is(err, tasknode.ErrRefused) || !strings.Contains(err.Error(), `"n1" is attached already`) {
		t.Errorf("error is %v; the tasknode has to try again", err)
	}
}

func TestOtherProtocolVersion(t *testing.T) {
	r := newRig(t, 1)
	q, err := http.NewRequest(http.MethodPost, "http://"+r.masters[0].address+"/hammr.v1.Jobmaster/GetInfo", strings.NewReader("{}"))
	must.Do(t, err)
	rpc.SetHeaders(q.Header, token, clusterID)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set(rpc.HeaderProtocol, "99")
	if got := text(t, http.DefaultTransport, q); !strings.Contains(got, `protocol version \"99\", not `+rpc.Protocol.String()) {
		t.Errorf("answer is %s", got)
	}
}

func TestBrowserGetsAReadableAnswer(t *testing.T) {
	r := newRig(t, 1)
	q, err := http.NewRequest(http.MethodGet, "http://"+r.masters[0].address+"/", nil)
	must.Do(t, err)
	if got := text(t, http.DefaultTransport, q); !strings.Contains(got, "RPC address of a hammr jobmaster") {
		t.Errorf("answer is %s", got)
	}
}

// text returns the body of an answer and closes the connection.
func text(t *testing.T, over http.RoundTripper, q *http.Request) string {
	t.Helper()
	q.Close = true
	answer, err := over.RoundTrip(q)
	must.Do(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must.Do(t, err)
	return string(body)
}

func TestForeignServerIsReported(t *testing.T) {
	r := newRig(t, 1)
	http1 := httptest.NewServer(http.NotFoundHandler())
	defer http1.Close()
	http2 := httptest.NewUnstartedServer(http.NotFoundHandler())
	http2.Config.Protocols = new(http.Protocols)
	http2.Config.Protocols.SetUnencryptedHTTP2(true)
	http2.Start()
	defer http2.Close()
	for what, address := range map[string]string{
		"an HTTP/1 server":             http1.Listener.Addr().String(),
		"an HTTP server":               http2.Listener.Addr().String(),
		"an SSH server":                hangingUp(t, "SSH-2.0-OpenSSH_9.9\r\n"),
		"a server of another protocol": hangingUp(t, "220 smtp.example.com ESMTP\r\n"),
	} {
		t.Run(what, func(t *testing.T) {
			began := time.Now()
			_, err := r.client(address).Info(t.Context())
			if want := address + ": " + what + " listens there, not a hammr jobmaster"; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v", err)
			}
			if took := time.Since(began); took > callTimeout/2 {
				t.Errorf("it took %v", took)
			}
			if _, err := docs.AllJobs.From(t.Context(), r.client(address, r.masters[0].address), docs.AllQuery{Finished: docs.Yes}); err != nil {
				t.Errorf("with another master: %v", err)
			}
		})
	}
}

func TestUnknownHost(t *testing.T) {
	r := newRig(t, 1)
	cfg := calls("nowhere.invalid:7070")
	cfg.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}}
	}
	_, err := r.clientWith(cfg).Info(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nowhere.invalid:7070: no such host") {
		t.Errorf("error is %v", err)
	}
}

func TestServerOfTLS(t *testing.T) {
	https := httptest.NewUnstartedServer(http.NotFoundHandler())
	https.Config.ErrorLog = log.New(io.Discard, "", 0)
	https.StartTLS()
	defer https.Close()
	address := https.Listener.Addr().String()
	cfg := calls(address)
	cfg.Timeout = 300 * time.Millisecond
	_, err := newRig(t, 1).clientWith(cfg).Info(t.Context())
	if err == nil || !strings.Contains(err.Error(), address+": closes connections without an answer; is this") {
		t.Errorf("error is %v", err)
	}
}
