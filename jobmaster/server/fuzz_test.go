package server_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"google.golang.org/protobuf/proto"
)

// FuzzAttend sends arbitrary bytes as a tasknode with the token: the stream ends, and
// the master still answers others.
func FuzzAttend(f *testing.F) {
	hello := &wire.Report{Machine: "n", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: cluster.FormatVersion, Instance: "i", MapSlots: 1}}}
	done := &wire.Report{Machine: "n", AttemptId: "attempt_1_0001_m_000000_0", Report: &wire.Report_Exited_{Exited: &wire.Report_Exited{}}}
	f.Add([]byte{})
	f.Add(envelope(f, hello))
	f.Add(append(envelope(f, hello), envelope(f, done)...))
	f.Add(append(envelope(f, hello), "garbage in the middle of a stream"...))
	f.Add(append(envelope(f, hello), 0, 0xff, 0xff, 0xff, 0xff)) // announces 4 GiB
	f.Add(envelope(f, done))                                     // does not join

	r := newRig(f, 1)
	c := r.client()
	over := newTransport()
	f.Cleanup(over.CloseIdleConnections)
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := http.NewRequest(http.MethodPost, "http://"+r.masters[0].address+"/hammr.v1.Tasknodes/Attend", bytes.NewReader(body))
		must.Do(t, err)
		rpc.SetHeaders(q.Header, token, clusterID)
		q.Header.Set("Content-Type", "application/connect+proto")
		answer, err := over.RoundTrip(q)
		if err == nil {
			_, err = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
		if err != nil {
			t.Errorf("the stream does not end in order: %v", err)
		}
		if _, err := docs.Nodes.From(t.Context(), c, docs.No{}); err != nil {
			t.Errorf("the master after that: %v", err)
		}
	})
}

// FuzzConnection sends arbitrary bytes to the port.
func FuzzConnection(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	f.Add([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x06\x00\x00\x00\x00\x00garbage"))
	f.Add([]byte{0x16, 3, 1, 2, 0, 1})
	r := newRig(f, 1)
	c := r.client()
	f.Fuzz(func(t *testing.T, words []byte) {
		conn, err := net.Dial("tcp", r.masters[0].address)
		must.Do(t, err)
		defer conn.Close()
		if _, err := conn.Write(words); err != nil {
			t.Skip("cut off already")
		}
		conn.(*net.TCPConn).CloseWrite()
		must.Do(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		var late net.Error
		if _, err := io.Copy(io.Discard, conn); asTimeout(err, &late) {
			t.Errorf("the connection is kept: %v", err)
		}
		if _, err := docs.Nodes.From(t.Context(), c, docs.No{}); err != nil {
			t.Errorf("the master after that: %v", err)
		}
	})
}

func asTimeout(err error, into *net.Error) bool {
	e, ok := err.(net.Error)
	*into = e
	return ok && e.Timeout()
}

func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{Protocols: protocols}
}

// envelope frames a message for a stream: a byte of flags, four bytes of length, the
// message.
func envelope(t testing.TB, m proto.Message) []byte {
	data, err := proto.Marshal(m)
	must.Do(t, err)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data))), data...)
}
