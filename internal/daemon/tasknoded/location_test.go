package tasknoded

import (
	"context"
	"net"
	"os"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

func TestSourceAddress(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.12:0": "127.0.0.12", "10.1.2.3": "10.1.2.3", ":7071": "", "0.0.0.0:7071": "", "127.0.0.1:7071": "", "host:7071": "",
	} {
		if got := sourceAddress(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestPageAddress(t *testing.T) {
	for _, tt := range []struct{ listens, advertised, want string }{
		{"[::]:7081", "n-0.nodes.ns.svc:7071", "n-0.nodes.ns.svc:7081"},
		{"0.0.0.0:7081", "host", "host:7081"},
		{"10.1.2.3:7081", "host:7071", "10.1.2.3:7081"},
		{"127.0.0.1:7081", "127.0.0.1:7071", "127.0.0.1:7081"},
	} {
		if got, err := pageAddress(tt.listens, tt.advertised); err != nil || got != tt.want {
			t.Errorf("a page at %s, beside %s: %q, %v, want %q", tt.listens, tt.advertised, got, err, tt.want)
		}
	}
}

type recordingLauncher struct {
	tasknode.Adopter
	seen map[string]string
}

func (l *recordingLauncher) Launch(_ context.Context, start *taskproc.Start) (tasknode.Task, error) {
	l.seen = start.Properties
	return nil, nil
}

func TestTasksConnectFromTasknodeAddress(t *testing.T) {
	for source, want := range map[string]string{"127.0.0.12": "127.0.0.12", "": ""} {
		var inner recordingLauncher
		if _, err := (&addressedLauncher{&inner, source}).Launch(t.Context(), new(taskproc.Start)); err != nil {
			t.Fatal(err)
		}
		if got := inner.seen[conf.HDFSLocalAddress]; got != want {
			t.Errorf("from %q: %q", source, got)
		}
	}
}

func TestHostsOfListener(t *testing.T) {
	name, err := os.Hostname()
	must.Do(t, err)
	for address, want := range map[string][]string{
		"127.0.0.1:0": {"127.0.0.1", "localhost"}, "127.0.0.12:0": {"127.0.0.12"}, ":0": {name},
	} {
		l, err := net.Listen("tcp", address)
		must.Do(t, err)
		got, err := hostsOf(l)
		if err != nil || len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: %v, %v; want %v", address, got, err, want)
		}
		l.Close()
	}
}
