package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

func TestConfigDefaults(t *testing.T) {
	t.Setenv("HADOOP_USER_NAME", "alice")
	c := Config{Addresses: []string{"a", "b:9000", "[::1]"}}
	c.EnsureDefaults()
	must.Do(t, c.Validate())
	if got := strings.Join(c.Addresses, " "); got != "a:8020 b:9000 [::1]:8020" {
		t.Error("addresses", got)
	}
	if c.URI != "hdfs://a:8020" || c.User != "alice" {
		t.Error("URI and user", c.URI, c.User)
	}
}

func TestConfigReportsAllFaults(t *testing.T) {
	c := Config{URI: "file://x", LocalAddress: "here", BlockSize: 1000, Replication: -1, Connections: -1,
		RetryTimeout: -1, DataTransferProtection: "some", Kerberos: &Kerberos{Keytab: "k", Principal: "nobody"}}
	c.EnsureDefaults()
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range []string{"no address", "file://x", "here", "1000", "Replication", "Connections", "timeout", "some",
		"dfs.namenode.kerberos.principal", "nobody"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("no word on %q in: %v", word, err)
		}
	}
}

func TestKerberosReportsMissingSettings(t *testing.T) {
	dir := t.TempDir()
	c := Config{Addresses: []string{"a"}, Kerberos: &Kerberos{ServicePrincipal: "nn/_HOST@REALM", ConfigFile: dir + "/krb5.conf"}}
	_, err := New(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), dir+"/krb5.conf") {
		t.Error(err)
	}
	if got := c.Kerberos.service(); got != "nn/_HOST" {
		t.Error("service", got)
	}
}

// remoteError is an exception of the NameNode.
type remoteError string

func (e remoteError) Method() string    { return "m" }
func (e remoteError) Desc() string      { return "" }
func (e remoteError) Exception() string { return string(e) }
func (e remoteError) Message() string   { return "" }
func (e remoteError) Error() string     { return string(e) }

// namedError is an exception of the NameNode with a message.
type namedError struct {
	remoteError
	message string
}

func (e namedError) Message() string { return e.message }

func TestOutagesAreMarked(t *testing.T) {
	f := &FS{cfg: Config{URI: "hdfs://nn:8020", Addresses: []string{"nn:8020"}}}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{syscall.ECONNREFUSED, true},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, true},
		{&net.DNSError{Err: "no such host", Name: "nn"}, true},
		{io.ErrUnexpectedEOF, true},
		{remoteError(standbyException), true},
		{remoteError(safeModeException), true},
		{remoteError(retriableException), true},
		{remoteError(recoveryInProgress), true},
		{remoteError(beingCreated), true},
		{namedError{"java.io.IOException", "File /f could only be written to 0 of the 1 minReplication nodes. There are 0 datanode(s) running"}, true},

		{&fs.PathError{Op: "open", Path: "/f", Err: fs.ErrNotExist}, false},
		{&fs.PathError{Op: "create", Path: "/f", Err: fs.ErrPermission}, false},
		{remoteError("org.apache.hadoop.hdfs.protocol.DSQuotaExceededException"), false},
		{remoteError("org.apache.hadoop.hdfs.protocol.NSQuotaExceededException"), false},
		{fmt.Errorf("block: %w", storage.ErrCorrupt), false},
		{&fs.PathError{Op: "write", Path: "/spool", Err: syscall.ENOSPC}, false},
		{&fs.PathError{Op: "read", Path: "/spool", Err: syscall.EIO}, false},
		{errNotRPC, false},
		{fmt.Errorf("%w: it is a directory", errRefused), false},
		{context.Canceled, false},
		{context.DeadlineExceeded, false},
	} {
		for _, err := range []error{f.explain("create", "/f", c.err), f.explainWrite("/f", c.err)} {
			if got := storage.Unavailable(err); got != c.want {
				t.Errorf("%v: not available: %v, want %v", err, got, c.want)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		err  error
		want verdict
	}{
		{&fs.PathError{Op: "stat", Path: "/", Err: fs.ErrNotExist}, final},
		{&fs.PathError{Op: "remove", Path: "/", Err: syscall.ENOTEMPTY}, final},
		{&fs.PathError{Op: "create", Path: "/", Err: remoteError(safeModeException)}, again},
		{remoteError(standbyException), reconnect},
		{remoteError("java.io.IOException"), final},
		{syscall.ECONNREFUSED, reconnect},
		{errors.New("no available namenodes: EOF"), reconnect},
		{errors.New("no available namenodes: SASL handshake: wrong"), final},
	} {
		if got := judge(c.err); got != c.want {
			t.Errorf("judge(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
