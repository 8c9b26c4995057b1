package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/web"
	"github.com/hammr/hammr/internal/web/access"
	"github.com/hammr/hammr/internal/web/leader"
)

// defaultUIPort is not a port of a daemon, since a master may run on the same machine.
const defaultUIPort = "7079"

// uiFlags are the flags of `hammr ui`.
type uiFlags struct {
	cluster clusterFlags
	http    string
	hosts   []string
	readers bool
	base    string
	proxies []string
}

// newUI serves the pages of a cluster from this machine, until Ctrl-C. It exits with 1 if it cannot
// listen. It starts without a leader: the pages then show that there is none.
func newUI() *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use:   "ui [--masters HOST:PORT,...] [--http HOST:PORT]",
		Short: "Serve the web pages of a cluster from this machine",
		Long: `Serve the web pages and the REST API of a cluster from this machine. Every
master serves them too, on its --http; this command is for machines that reach
the masters when browsers do not, and to take the work of the pages off the
masters.

Browsers sign in with the token of the cluster. The pages listen on this machine
only, unless --http says otherwise.`,
		Example: `  hammr ui --masters m1,m2,m3
  hammr ui --http 10.0.0.7:8000 --host cluster.example.org`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cluster.masters, "masters", os.Getenv(rpc.MasterVariable), "addresses of masters, as `host:port,...`; one is enough")
	flags.StringVar(&f.cluster.tokenFile, "token-file", "", "`file` with the cluster's secret (default the copy that 'hammr up' has saved for this user)")
	flags.StringVar(&f.http, "http", "127.0.0.1:"+defaultUIPort, "`host:port` of the pages")
	flags.StringSliceVar(&f.hosts, "host", nil, "`names` by which browsers reach the pages, besides localhost and IP addresses")
	flags.StringVar(&f.base, "http-base", "/", "`path` below which browsers see the pages, as /hammr/ behind a proxy")
	flags.StringSliceVar(&f.proxies, "http-proxies", nil, "`networks` of proxies whose X-Forwarded-Proto and X-Forwarded-For count, as 10.0.0.0/24")
	flags.BoolVar(&f.readers, "anonymous-readers", false, "let browsers without the token view the pages; logs and changes need it")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.cluster.masters == "" {
			return errors.New("no cluster is named; give --masters host:port,... or set " + rpc.MasterVariable)
		}
		return untilSignal(func(ctx context.Context) error { return f.serve(ctx, cmd.OutOrStdout(), cmd.ErrOrStderr()) })
	}
	return cmd
}

// serve serves the pages until ctx ends.
func (f *uiFlags) serve(ctx context.Context, stdout, stderr io.Writer) (err error) {
	masters, token, id, err := f.cluster.cluster()
	if err != nil {
		return err
	}
	router, err := openFiles(stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, router.Close()) }()
	source, err := leader.New(leader.Config{RPC: rpc.Config{Masters: masters, Token: token, ClusterID: id}, Resolve: router.Resolve})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	logger := slog.New(slog.NewTextHandler(stderr, nil))
	hosts := f.hosts
	if host, _, err := net.SplitHostPort(f.http); err == nil && host != "" {
		hosts = append(hosts, host)
	}
	gate, err := access.New(access.Config{
		Token: token, Cluster: id, AnonymousReaders: f.readers, Hosts: hosts, Base: f.base, Proxies: f.proxies, Refuse: web.Refuse,
		Audit: func(r access.Record) { r.Log(logger) },
	})
	if err != nil {
		return err
	}
	listener, err := daemon.Listen("http", f.http, defaultUIPort, daemon.PageLimits(logger))
	if err != nil {
		return err
	}
	stop := daemon.ServePage(listener, gate.Handler(web.New(web.Config{Source: source, Gate: gate, Name: "hammr ui", Logger: logger})))
	defer stop()
	fmt.Fprintf(stdout, "http://%s\n", listener.Addr())
	<-ctx.Done()
	return nil
}
