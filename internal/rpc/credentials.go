package rpc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFileVariable is the environment variable that names the file with the
// cluster's token.
const TokenFileVariable = "HAMMR_TOKEN_FILE"

// MasterVariable is the environment variable that names the masters.
const MasterVariable = "HAMMR_MASTER"

// maxTokenBytes bounds a file with a token.
const maxTokenBytes = 4096

// TokenStore keeps a user's copies of tokens; the package's doc shows its files.
type TokenStore struct{ dir string }

// UserTokenStore is the store of the user who runs the process.
func UserTokenStore() (TokenStore, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return TokenStore{}, fmt.Errorf("directory for the user's configuration: %w", err)
	}
	return TokenStore{filepath.Join(dir, "hammr")}, nil
}

// TokenStoreAt is a store in a directory, which is made when something is saved.
func TokenStoreAt(dir string) TokenStore { return TokenStore{dir} }

// Save keeps the token of a cluster and which masters are its own.
func (s TokenStore) Save(clusterID, token string, masters []string) error {
	if err := checkName(clusterID); err != nil {
		return err
	}
	faults := []error{s.write("tokens", clusterID, token)}
	for _, address := range masters {
		if err := checkAddress(address); err != nil {
			return err
		}
		faults = append(faults, s.write("masters", address, clusterID))
	}
	return errors.Join(faults...)
}

// Forget removes what Save kept of a cluster. What another cluster has taken
// over stays.
func (s TokenStore) Forget(clusterID string) error {
	if err := checkName(clusterID); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "masters")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	faults := []error{err, remove(filepath.Join(s.dir, "tokens", clusterID))}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if id, err := readSmall(name); err == nil && id == clusterID {
			faults = append(faults, remove(name))
		}
	}
	return errors.Join(faults...)
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Find finds the token for a cluster by its masters, and its id, "" for unknown.
// tokenFile is what the user gave with --token-file, "" for nothing.
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
		if token, err := ReadToken(filepath.Join(s.dir, "tokens", id)); err == nil {
			return token, id, nil
		}
	}
	return "", "", fmt.Errorf("no token for the cluster of %s; give its file with --token-file or %s",
		strings.Join(masters, ", "), TokenFileVariable)
}

// ReadToken reads a file with a token.
func ReadToken(file string) (string, error) {
	token, err := readSmall(file)
	if err != nil {
		return "", fmt.Errorf("file of the cluster's token: %w", err)
	}
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("file of the cluster's token %s: not one word of printable characters", file)
	}
	return token, nil
}

// readSmall is the content of a file without the space around it.
func readSmall(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > maxTokenBytes {
		return "", fmt.Errorf("%s: %d bytes, more than a token has", name, info.Size())
	}
	data, err := os.ReadFile(name)
	return strings.TrimSpace(string(data)), err
}

// write makes a file anew that is only the user's to read.
func (s TokenStore) write(kind, name, content string) error {
	dir := filepath.Join(s.dir, kind)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-") // readable for nobody else
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

// checkName refuses the id of a cluster that would be a path.
func checkName(clusterID string) error {
	if clusterID == "" || clusterID[0] == '.' || strings.ContainsAny(clusterID, "/\\ \n") {
		return fmt.Errorf("cluster id %q: not a name", clusterID)
	}
	return nil
}

// FindToken is Find in the store of the user who runs the process.
func FindToken(tokenFile string, masters []string) (token, clusterID string, err error) {
	store, err := UserTokenStore()
	if err != nil && tokenFile == "" && os.Getenv(TokenFileVariable) == "" {
		return "", "", err
	}
	return store.Find(tokenFile, masters)
}
