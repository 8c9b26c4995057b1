package minihdfs

import (
	"io"
	"net"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestForwarder checks that the NameNode sees a DataNode's own address, and that a partition ends connections.
func TestForwarder(t *testing.T) {
	network, err := chooseNetwork(t.TempDir(), false)
	must.Do(t, err)
	nameNode, err := net.Listen("tcp", network+".1:0")
	must.Do(t, err)
	defer nameNode.Close()
	host := network + ".11"
	f, err := forward(host, nameNode.Addr().String())
	must.Do(t, err)
	defer f.close()
	out, err := net.Dial("tcp", net.JoinHostPort(host, rpcPort))
	must.Do(t, err)
	defer out.Close()
	in, err := nameNode.Accept()
	must.Do(t, err)
	defer in.Close()
	if from, _, _ := net.SplitHostPort(in.RemoteAddr().String()); from != host {
		t.Errorf("the NameNode sees %s, want %s", from, host)
	}
	for from, to := range map[net.Conn]net.Conn{in: out, out: in} {
		got := make([]byte, 3)
		if _, err := from.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(to, got); err != nil || string(got) != "abc" {
			t.Errorf("%q, %v", got, err)
		}
	}
	f.close()
	for _, conn := range []net.Conn{in, out} {
		if n, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes after the partition", n)
		}
	}
	if conn, err := net.Dial("tcp", net.JoinHostPort(host, rpcPort)); err == nil {
		conn.Close()
		t.Error("the forwarder accepts connections after the partition")
	}
}
