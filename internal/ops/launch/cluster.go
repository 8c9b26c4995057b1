package launch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/kit/owndir"
)

// Cluster is what the daemons of a cluster must agree on.
type Cluster struct {
	ID      string
	Masters []Master // that the settings name
	Staging string   // full name of the directory for splits and programs; "" for the jobmasters' default
}

// InitialPolicy is the value of the jobmasters' setting initial-policy for new clusters of several
// users; docs/schedulers.md has the reasons.
const InitialPolicy = "hfsp,hammr.hfsp.user.share.timeout=10000"

// Master is a jobmaster as other daemons know it.
type Master struct {
	ID      string
	Address string // host:port
}

// Daemon is the place of a daemon: its files and its addresses. An empty field is a setting that
// the starter does not decide.
type Daemon struct {
	Name      string // id of a jobmaster
	Dir       string
	Address   string // at which it listens
	Advertise string // at which others reach it
	HTTP      string
	TokenFile string
	LogFile   string
	ReadyFile string
}

// outputFile returns the file with the daemon's output that is not in its log: errors at its
// start, and crashes.
func (d Daemon) outputFile() string { return strings.TrimSuffix(d.LogFile, ".log") + ".err" }

// Settings are settings of a daemon by name.
type Settings map[string]string

// Jobmaster returns the settings of a jobmaster.
func (c *Cluster) Jobmaster(d Daemon) Settings {
	var list []string
	for _, m := range c.Masters {
		list = append(list, m.ID+"="+m.Address)
	}
	return c.settings(d, Settings{"id": d.Name, "masters": strings.Join(list, ","), "staging": c.Staging})
}

// Tasknode returns the settings of a tasknode with a number of slots.
func (c *Cluster) Tasknode(d Daemon, mapSlots, reduceSlots int) Settings {
	return c.settings(d, Settings{
		"name": d.Name, "masters": strings.Join(c.Addresses(), ","), "map-slots": strconv.Itoa(mapSlots), "reduce-slots": strconv.Itoa(reduceSlots),
	})
}

// settings adds those that both daemons have, and leaves out empty ones.
func (c *Cluster) settings(d Daemon, s Settings) Settings {
	maps.Copy(s, Settings{"cluster-id": c.ID, "dir": d.Dir, "address": d.Address, "advertise": d.Advertise, "http": d.HTTP, "token-file": d.TokenFile})
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// Files returns the settings of a daemon that its starter relies on: no setting of the user may
// override them.
func (d Daemon) Files() Settings {
	return Settings{"log-file": d.LogFile, "ready-file": d.ReadyFile}
}

// Addresses returns the addresses of the masters, for tasknodes and clients.
func (c *Cluster) Addresses() (list []string) {
	for _, m := range c.Masters {
		list = append(list, m.Address)
	}
	return list
}

// Flags returns settings as flags of a daemon: a word for the name and one for the value.
func (s Settings) Flags() (words []string) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		words = append(words, "--"+name, s[name])
	}
	return words
}

// YAML returns settings as the file of a daemon. Text in JSON is YAML too.
func (s Settings) YAML() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		value, _ := json.Marshal(s[name]) // a string is always valid
		fmt.Fprintf(&b, "%s: %s\n", name, value)
	}
	return b.String()
}

// NewClusterID returns the id of a new cluster: its creation in ms since the epoch.
func NewClusterID() string { return strconv.FormatInt(time.Now().UnixMilli(), 10) }

// MasterName returns the id of a master, counted from 0.
func MasterName(i int) string { return "m" + strconv.Itoa(i+1) }

// TasknodeName returns the name of a tasknode, counted from 0. It never changes.
func TasknodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// NewToken returns a random secret.
func NewToken() string { return strings.ToLower(rand.Text()) }

// WriteToken makes a file with a secret that only its owner can read. The error wraps
// fs.ErrExist if there is a file.
func WriteToken(file, token string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("file of the cluster's token: %w", err)
	}
	_, err = f.WriteString(token + "\n")
	return errors.Join(err, f.Close())
}

// EnsureToken makes a file with a random secret, unless there is one that only this user can
// change. A cluster that is started again keeps its secret, so that clients with a copy stay
// valid.
func EnsureToken(file string) error {
	err := WriteToken(file, NewToken())
	if errors.Is(err, fs.ErrExist) {
		_, err = owndir.ReadFile(file)
	}
	return err
}
