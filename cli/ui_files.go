package cli

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/histindex"
	"github.com/hammr/hammr/internal/source/files"
	"github.com/hammr/hammr/storage"
)

// pastFlags name what `hammr ui` shows without a cluster.
type pastFlags struct{ history, drills string }

func (f *pastFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.history, "history", "", "`directory` of histories of finished jobs, such as a copy of the masters'")
	flags.StringVar(&f.drills, "drills", "", "`directory` of reports of 'hammr chaos run'")
}

// given reports whether a directory is named.
func (f *pastFlags) given() bool { return f.history != "" || f.drills != "" }

// open returns the source of the directories, nil if none is named, and a function that closes it.
func (f *pastFlags) open(resolve func(context.Context, string) (storage.FS, string, error)) (docs.Source, func() error, error) {
	if !f.given() {
		return nil, func() error { return nil }, nil
	}
	history, err := fullDirectory("--history", f.history)
	if err != nil {
		return nil, nil, err
	}
	if f.drills != "" {
		if _, err := os.ReadDir(f.drills); err != nil {
			return nil, nil, fmt.Errorf("--drills: %w", err)
		}
	}
	index := histindex.New(histindex.Config{Dir: history, Resolve: resolve})
	return files.New(files.Config{Index: index}), index.Close, nil
}

// fullDirectory returns the full name of a directory, with its scheme. One without a scheme is local,
// and must exist; "" stays "".
func fullDirectory(flag, name string) (string, error) {
	if name == "" || strings.Contains(name, "://") {
		return name, nil
	}
	if _, err := os.ReadDir(name); err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	absolute, err := filepath.Abs(name)
	return "file://" + absolute, err
}

// checkLoopback refuses an address that other machines reach: nothing encrypts the sign-in, and without a
// cluster there is no reason to serve others.
func checkLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("--http %s: pages without a cluster are served on this machine only: give an address such as 127.0.0.1:%s", address, defaultUIPort)
}
