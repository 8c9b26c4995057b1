package sshcluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/rpc"
)

// tokenHash returns the hash of a file with a token, as the survey has it.
func tokenHash(token string) string {
	sum := sha256.Sum256([]byte(token + "\n"))
	return hex.EncodeToString(sum[:])
}

// openToken returns the secret of the cluster. It is in a file of this machine; if there is
// none, it comes from the machines; if they have none either, it is made. In the last two
// cases the file is written.
func (c *Cluster) openToken(ctx context.Context) (string, error) {
	token, err := rpc.ReadToken(c.cfg.TokenFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var from *Host
	for i, s := range c.surveys {
		h := &c.plan.Hosts[i]
		switch {
		case s == nil || s.token == "":
		case token != "" && s.token != tokenHash(token):
			return "", fmt.Errorf("%s: the cluster there has another token than %s; remove that file to use the cluster's", h.Name, c.cfg.TokenFile)
		default:
			from = h
		}
	}
	if token != "" {
		return token, nil
	}
	if token = launch.NewToken(); from != nil {
		text, err := c.shell.run(ctx, from, c.plan.script(from, `cat "$etc/token"`))
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(text)
	}
	return token, launch.WriteToken(c.cfg.TokenFile, token)
}
