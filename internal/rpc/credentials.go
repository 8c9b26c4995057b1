package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TokenFileVariable is the environment variable that names the file with the
// cluster's token.
const TokenFileVariable = "HAMMR_TOKEN_FILE"

// MasterVariable is the environment variable that names the masters.
const MasterVariable = "HAMMR_MASTER"

// maxTokenBytes bounds a file with a token.
const maxTokenBytes = 4096

// minTokenBytes is the shortest token: every task has values that are derived from the token, and
// could find a short one by trying.
const minTokenBytes = 16

// TokenStore stores a user's copies of tokens, in the files that the package doc shows.
type TokenStore struct{ dir string }

// UserTokenStore returns the store of the user who runs the process.
func UserTokenStore() (TokenStore, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return TokenStore{}, fmt.Errorf("directory for the user's configuration: %w", err)
	}
	return TokenStore{filepath.Join(dir, "hammr")}, nil
}

// Save stores the token of a cluster and the addresses of its masters.
//
// It replaces an existing token, because a cluster that was set up again has a new token.
func (s TokenStore) Save(clusterID, token string, masters []string) error {
	if err := checkName(clusterID); err != nil {
		return err
	}
	errs := []error{s.write("tokens", clusterID, token)}
	for _, address := range masters {
		if err := checkAddress(address); err != nil {
			return err
		}
		errs = append(errs, s.write("masters", address, clusterID))
	}
	return errors.Join(errs...)
}

// Forget removes what Save has stored for a cluster. It keeps an address that was saved for
// another cluster in the meantime.
func (s TokenStore) Forget(clusterID string) error {
	if err := checkName(clusterID); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "masters")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	errs := []error{err, remove(filepath.Join(s.dir, "tokens", clusterID))}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if id, err := readSmall(name); err == nil && id == clusterID {
			errs = append(errs, remove(name))
		}
	}
	return errors.Join(errs...)
}

// remove removes a file. A missing file is no error.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Find returns the token for the cluster of these masters, and the cluster's id, "" if
// unknown. tokenFile is the value of --token-file, "" if the user gave none.
func (s TokenStore) Find(tokenFile string, masters []string) (token, clusterID string, err error) {
	if tokenFile == "" {
		tokenFile = os.Getenv(TokenFileVariable)
	}
	if tokenFile != "" {
		token, err = ReadToken(tokenFile)
		return token, "", err
	}
	for _, address := range masters {
		id, err := readSmall(filepath.Join(s.dir, "masters", address))
		if err != nil || checkName(id) != nil {
			continue
		}
		token, err := ReadToken(filepath.Join(s.dir, "tokens", id))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return token, id, err
		}
	}
	return "", "", fmt.Errorf("no token for the cluster of %s; name its file with --token-file or %s",
		strings.Join(masters, ", "), TokenFileVariable)
}

// OthersCanUse reports whether users other than the reader may use the file of a token. The file is
// for its owner only. If root owns it and the reader is another user, the group may read it too,
// because the files of a Kubernetes Secret are like that. PostgreSQL has the same rule for its keys.
func OthersCanUse(info fs.FileInfo, reader int) bool {
	forbidden := fs.FileMode(0o077)
	if stat, isUnix := info.Sys().(*syscall.Stat_t); isUnix && stat.Uid == 0 && reader != 0 {
		forbidden = 0o037
	}
	return info.Mode().Perm()&forbidden != 0
}

// ReadToken reads a token from a file, which only the user of this process may use; see
// OthersCanUse.
func ReadToken(file string) (string, error) {
	if info, err := os.Stat(file); err == nil && OthersCanUse(info, os.Getuid()) {
		return "", fmt.Errorf("file of the cluster's token %s: mode %04o, other users can use it; run chmod 600 %[1]s", file, info.Mode().Perm())
	}
	token, err := readSmall(file)
	if err != nil {
		return "", fmt.Errorf("file of the cluster's token: %w", err)
	}
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("file of the cluster's token %s: not a single word of printable characters", file)
	}
	if len(token) < minTokenBytes {
		return "", fmt.Errorf("file of the cluster's token %s: %d bytes, a token needs %d; make one with head -c 32 /dev/urandom | base64", file, len(token), minTokenBytes)
	}
	return token, nil
}

// readSmall returns the content of a file without leading and trailing space.
func readSmall(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxTokenBytes {
		return "", fmt.Errorf("%s: %d bytes, too long for a token", name, info.Size())
	}
	data, err := os.ReadFile(name)
	return strings.TrimSpace(string(data)), err
}

// write replaces a file. Only the user can read the new file.
func (s TokenStore) write(kind, name, content string) error {
	dir := filepath.Join(s.dir, kind)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-") // CreateTemp sets mode 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(content + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// checkName refuses a cluster id that cannot be a file name.
func checkName(clusterID string) error {
	if clusterID == "" || clusterID[0] == '.' || strings.ContainsAny(clusterID, "/\\ \n") {
		return fmt.Errorf("cluster id %q: not a file name", clusterID)
	}
	return nil
}

// FindToken calls Find on the store of the user who runs the process.
func FindToken(tokenFile string, masters []string) (token, clusterID string, err error) {
	store, err := UserTokenStore()
	if err != nil && tokenFile == "" && os.Getenv(TokenFileVariable) == "" {
		return "", "", err
	}
	return store.Find(tokenFile, masters)
}
