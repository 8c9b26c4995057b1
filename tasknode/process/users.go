package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/pattern"
)

// users finds the accounts of the users who submit jobs, and refuses those who may not run
// tasks. Any goroutine may call its methods.
//
// A static binary reads only /etc/passwd and /etc/group. Users of a directory service are
// found by the system's programs getent and id, which ask whatever nsswitch.conf names.
type users struct {
	minUID uint32
	banned []string
	run    func(ctx context.Context, program string, args ...string) (string, error) // default runProgram; tests replace it
	mu     struct {
		sync.Mutex
		found map[string]foundUser // by name
	}
}

// foundUser is the result of a search, which counts until a time.
type foundUser struct {
	owner *owner
	err   error
	until time.Time
}

// Limits of the cache and of a search.
const (
	userCacheTime = time.Minute // how long a result counts, so that a change of groups is noticed
	userCacheSize = 1000        // users; names come from clients, so they must not accumulate
	lookupTimeout = 10 * time.Second
)

// userName matches the names that are looked up. The name becomes an argument of a program,
// so it begins with no "-".
var userName = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_.@\\+-]{0,254}\$?$`)

// ownerOf returns the account of a user, nil for the daemon's own. The error says why the
// user's tasks may not run on this machine, and which setting decides that.
func (u *users) ownerOf(ctx context.Context, name string) (*owner, error) {
	if name == "" && u.minUID == 0 {
		return nil, nil
	}
	if name == "" {
		return nil, errors.New("the job names no user, and a tasknode that runs as root runs tasks only as their users; submit it with a user name, or start the tasknode with --own-user")
	}
	u.mu.Lock()
	found, known := u.mu.found[name]
	u.mu.Unlock()
	if !known || time.Now().After(found.until) {
		found.owner, found.err = u.find(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(found.err, errNoAnswer) {
			u.keep(name, found)
		}
	}
	if found.err != nil {
		return nil, fmt.Errorf("user %q, who submitted the job: %w", name, found.err)
	}
	return found.owner, nil
}

// keep puts a result into the cache.
func (u *users) keep(name string, found foundUser) {
	found.until = time.Now().Add(userCacheTime)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.found == nil || len(u.mu.found) >= userCacheSize {
		u.mu.found = make(map[string]foundUser)
	}
	u.mu.found[name] = found
}

// find looks an account up and checks it. An account may have several names, so the list of
// banned users is compared with the name of the account too.
func (u *users) find(ctx context.Context, name string) (*owner, error) {
	if !userName().MatchString(name) {
		return nil, errors.New("not a valid name of a user")
	}
	o, err := u.lookup(ctx, name)
	switch {
	case errors.Is(err, errNoAnswer):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("no account on this machine: make one, or run the tasknode as another user than root: %w", err)
	case slices.Contains(u.banned, name) || slices.Contains(u.banned, o.name):
		return nil, errors.New("may not run tasks on this machine, because it is one of --banned-users")
	case o.uid < u.minUID:
		return nil, fmt.Errorf("may not run tasks on this machine, because its uid %d is below --min-uid %d", o.uid, u.minUID)
	case o.uid == 0:
		return nil, nil
	}
	return o, nil
}

// errNoAnswer means that the system could not say whether there is an account, for example
// because a directory service does not answer. A later search may find the account.
var errNoAnswer = errors.New("account cannot be looked up; check the directory service of the machine")

// lookup finds an account and its groups. For an account of /etc/passwd, the groups of
// /etc/group are enough if the machine has no program id.
func (u *users) lookup(ctx context.Context, name string) (*owner, error) {
	o, err := lookupLocal(name)
	isLocal := err == nil
	if !isLocal {
		if o, err = u.getent(ctx, name); err != nil {
			return nil, err
		}
	}
	switch groups, err := u.groupsOf(ctx, name); {
	case err == nil:
		o.groups = groups
	case !isLocal && exitStatusOf(err) < 0:
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if o.groups == nil {
		o.groups = []uint32{o.gid}
	}
	return o, nil
}

// lookupLocal finds an account with Go's own library.
func lookupLocal(name string) (*owner, error) {
	a, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	ids := []string{a.Uid, a.Gid}
	if groups, err := a.GroupIds(); err == nil {
		ids = append(ids, groups...)
	}
	parsed, err := parseIDs(ids)
	if err != nil {
		return nil, err
	}
	return &owner{name: a.Username, home: a.HomeDir, uid: parsed[0], gid: parsed[1], groups: parsed[2:]}, nil
}

// exitError is the error of a program that ends with another status than 0, as *exec.ExitError.
type exitError interface {
	error
	ExitCode() int
}

// exitStatusOf returns the status with which a program has ended; -1 if a signal ended it, or if
// it did not run.
func exitStatusOf(err error) int {
	if exit, ok := errors.AsType[exitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// getentNotFound is the exit status of getent if there is no such account.
const getentNotFound = 2

// getent finds an account with the program getent:
//
//	name:x:uid:gid:gecos:home:shell
//
// getent takes a number for a uid. Then the name in its answer differs.
func (u *users) getent(ctx context.Context, name string) (*owner, error) {
	out, err := u.run(ctx, "getent", "passwd", name)
	if err != nil {
		if exitStatusOf(err) == getentNotFound || errors.Is(err, exec.ErrNotFound) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	fields := strings.Split(strings.TrimSpace(out), ":")
	if len(fields) != 7 || strings.Contains(out, "\n"+fields[0]) {
		return nil, fmt.Errorf("getent passwd answers %.200q", out)
	}
	if _, err := strconv.Atoi(name); err == nil && fields[0] != name {
		return nil, fmt.Errorf("%s is the uid of %s and no name", name, fields[0])
	}
	ids, err := parseIDs(fields[2:4])
	if err != nil {
		return nil, err
	}
	return &owner{name: fields[0], home: fields[5], uid: ids[0], gid: ids[1]}, nil
}

// groupsOf returns the ids of all groups of a user, as the program id finds them.
func (u *users) groupsOf(ctx context.Context, name string) ([]uint32, error) {
	out, err := u.run(ctx, "id", "-G", name)
	if err != nil {
		return nil, err
	}
	return parseIDs(strings.Fields(out))
}

// parseIDs parses numbers of users or groups.
func parseIDs(texts []string) (ids []uint32, err error) {
	for _, text := range texts {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		ids = append(ids, uint32(n))
	}
	return ids, nil
}

// runProgram runs a program of the system and returns what it prints.
func runProgram(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(append([]string{program}, args...), " "), err)
	}
	return string(out), nil
}
