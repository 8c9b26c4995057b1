package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// Client is one that asks the cluster and gives it orders. It is to be closed.
func (c *Cluster) Client() (*remote.Client, error) {
	state, err := c.State()
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(c.dir, localcluster.TokenFile))
	if err != nil {
		return nil, fmt.Errorf("token of %s: %w", c.dir, err)
	}
	return remote.New(remote.Config{Config: rpc.Config{Masters: state.Addresses(), Token: strings.TrimSpace(string(token))}})
}
