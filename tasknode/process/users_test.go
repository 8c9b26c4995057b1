package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/tasknode"
)

// directory plays getent and id for accounts that are not in /etc/passwd.
type directory struct {
	calls []string
	hangs string // program that does not answer
}

// exitStatus is the error of a program that ends with this status.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }
func (s exitStatus) ExitCode() int { return int(s) }

func (d *directory) run(_ context.Context, program string, args ...string) (string, error) {
	call := strings.Join(append([]string{program}, args...), " ")
	d.calls = append(d.calls, call)
	if program == d.hangs {
		return "", errors.New("signal: killed")
	}
	answer, known := map[string]string{
		"getent passwd ldap-alice": "ldap-alice:*:70001:70000:Alice:/home/alice:/bin/sh\n",
		"id -G ldap-alice":         "70000 70005 70009\n",
		"getent passwd ldap-svc":   "ldap-svc:*:400:400::/:/bin/sh\n",
		"getent passwd 0":          "root:x:0:0:root:/root:/bin/sh\n",
		"getent passwd alias":      "yarn:x:70002:70000::/:/bin/sh\n",
		"getent passwd two":        "two:x:1:1::/:/bin/sh\ntwo:x:70001:1::/:/bin/sh\n",
	}[call]
	if !known {
		return "", exitStatus(getentNotFound)
	}
	return answer, nil
}

func TestUsersOfADirectoryServiceAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(directory)
		u := &users{minUID: 1000, run: d.run}
		for range 2 {
			o, err := u.ownerOf(t.Context(), "ldap-alice")
			if err != nil || o.uid != 70001 || o.gid != 70000 || o.home != "/home/alice" || !slices.Equal(o.groups, []uint32{70000, 70005, 70009}) {
				t.Fatalf("owner %+v, %v", o, err)
			}
		}
		if len(d.calls) != 2 {
			t.Errorf("programs run: %q", d.calls)
		}
		time.Sleep(userCacheTime + time.Second)
		if _, err := u.ownerOf(t.Context(), "ldap-alice"); err != nil || len(d.calls) != 4 {
			t.Errorf("%v; programs run: %q", err, d.calls)
		}
	})
}

// TestDirectoryServiceThatDoesNotAnswer looks a user up while a program of the system hangs. The
// error does not say that there is no account, and the user is found as soon as it answers.
func TestDirectoryServiceThatDoesNotAnswer(t *testing.T) {
	for _, program := range []string{"getent", "id"} {
		d := &directory{hangs: program}
		u := &users{minUID: 1000, run: d.run}
		_, err := u.ownerOf(t.Context(), "ldap-alice")
		if !errors.Is(err, errNoAnswer) || strings.Contains(err.Error(), "no account") || !strings.Contains(err.Error(), "ldap-alice") {
			t.Errorf("%s hangs: %v", program, err)
		}
		d.hangs = ""
		if o, err := u.ownerOf(t.Context(), "ldap-alice"); err != nil || len(o.groups) != 3 {
			t.Errorf("%s answers: %+v, %v", program, o, err)
		}
	}
}

func TestUsersWhoMayNotRunTasksAreRefused(t *testing.T) {
	d := new(directory)
	u := &users{minUID: 1000, banned: []string{"yarn", "ldap-alice"}, run: d.run}
	for name, want := range map[string]string{
		"":                       "--own-user",
		"root":                   "uid 0 is below --min-uid 1000",
		"ldap-svc":               "uid 400 is below --min-uid 1000",
		"ldap-alice":             "--banned-users",
		"alias":                  "--banned-users",
		"nobody-has-this":        "no account on this machine",
		"-x":                     "not a valid name",
		"a b":                    "not a valid name",
		"a:b":                    "not a valid name",
		strings.Repeat("x", 300): "not a valid name",
		"0":                      "is the uid of root",
		"two":                    "getent passwd answers",
	} {
		_, err := u.ownerOf(t.Context(), name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name) {
			t.Errorf("user %q: %v; want %q", name, err, want)
		}
	}
	for _, call := range d.calls {
		if strings.Contains(call, "-x") || strings.Contains(call, " b") {
			t.Errorf("program run: %s", call)
		}
	}
	for i := range 3 * userCacheSize {
		_, _ = u.ownerOf(t.Context(), fmt.Sprint("unknown", i))
	}
	if n := len(u.mu.found); n > userCacheSize {
		t.Errorf("%d names in the cache", n)
	}
}

// TestRootDaemonRefusesTasksOfRoot launches real tasks. The daemon of a user who is not root
// runs every task as itself.
func TestRootDaemonRefusesTasksOfRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	for name, c := range map[string]struct {
		user    string
		cfg     Config
		refused bool
	}{
		"root":             {"root", Config{MinUID: 1000}, true},
		"daemon":           {"daemon", Config{MinUID: 1000}, true},
		"nobody is banned": {"nobody", Config{MinUID: 1000, BannedUsers: []string{"nobody"}}, true},
		"no user":          {"", Config{MinUID: 1000}, true},
		"lowered to 0":     {"root", Config{}, false},
		"own user":         {"root", Config{MinUID: 1000, RunAsDaemonUser: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLauncher(t, c.cfg)
			start := startMessage(t, "")
			start.User = c.user
			var task tasknode.Task
			var err error
			if task, err = l.Launch(t.Context(), start); err == nil {
				_ = task.Conn().Close()
				<-task.Exited()
			}
			if refused := err != nil; refused != c.refused {
				t.Errorf("launch: %v", err)
			}
		})
	}
}
