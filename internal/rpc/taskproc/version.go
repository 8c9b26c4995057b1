package taskproc

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/hammr/hammr/internal/rpc/protocol"
)

// Protocol is the versions of the messages between tasknodes and tasks that this program speaks.
// A program is linked with the package mr of one release and runs on clusters of other releases,
// so it may be older or newer than its tasknode:
//
//	tasknode                              task
//	   ── Start, with its versions ────────►  no common version: Failure
//	   ◄─ Hello, with the program's ────────
//	no common version: the attempt fails
//
// Version 1 has no versions in Start, and no Hello. Programs of the releases before version 2
// speak it. Version 2 has both. Version 3 has Profile.
var Protocol = protocol.Versions{Oldest: 1, Newest: 3}

// ProfileVersion is the version from which on a program can take profiles.
const ProfileVersion = 3

// JobVersion is the newest cluster version that a tasknode of this program supports: it
// understands all of Start. Masters raise the cluster version only when all tasknodes support it.
const JobVersion = 3

// first is what a tasknode or a program speaks that does not say it.
var first = protocol.Versions{Oldest: 1, Newest: 1}

// SetVersions says in Start what a tasknode speaks.
func (s *Start) SetVersions(v protocol.Versions) {
	s.OldestVersion, s.NewestVersion = int32(v.Oldest), int32(v.Newest)
}

// versions returns what the tasknode speaks that has sent Start.
func (s *Start) versions() protocol.Versions {
	return cmp.Or(protocol.Versions{Oldest: int(s.OldestVersion), Newest: int(s.NewestVersion)}, first)
}

// CheckVersions returns an error unless a program speaks a version that its tasknode accepts.
// hello is nil if the first message of the program was another one.
func CheckVersions(tasknode protocol.Versions, hello *Hello) error {
	return checkCommon(tasknode, VersionsOf(hello))
}

// VersionsOf returns what a program speaks, as CheckVersions.
func VersionsOf(hello *Hello) protocol.Versions {
	if hello == nil {
		return first
	}
	return protocol.Versions{Oldest: int(hello.OldestVersion), Newest: int(hello.NewestVersion)}
}

// checkCommon returns an error if two ranges have no common version.
func checkCommon(tasknode, program protocol.Versions) error {
	if _, ok := tasknode.Common(program); ok {
		return nil
	}
	remedy := "the program is too old: build it again with the release of hammr that the cluster runs"
	if program.Oldest > tasknode.Newest {
		remedy = "the program is too new: build it with the release of hammr that the cluster runs, or upgrade the cluster"
	}
	return fmt.Errorf("the program speaks version %v of the messages between tasknodes and programs, and the tasknode version %v; %s", program, tasknode, remedy)
}

// ReceiveStart waits for the first message, which is Start, and answers it with Hello. If the
// tasknode speaks no common version, the task fails, and the error says so.
func (e TaskEnd) ReceiveStart() (*Start, error) {
	message, err := e.Receive()
	if err != nil {
		return nil, fmt.Errorf("start message: %w", err)
	}
	start := message.GetStart()
	if start == nil {
		return nil, errors.New("start message: another message came first")
	}
	return start, e.sendHello(start.versions())
}

// sendHello sends Hello, and Failure if there is no common version. A tasknode of version 1 knows no
// Hello.
func (e TaskEnd) sendHello(tasknode protocol.Versions) error {
	if tasknode != first {
		hello := &Hello{OldestVersion: int32(e.versions.Oldest), NewestVersion: int32(e.versions.Newest)}
		if err := e.Send(&FromTask{Message: &FromTask_Hello{Hello: hello}}); err != nil {
			return fmt.Errorf("hello message: %w", err)
		}
	}
	mismatch := checkCommon(tasknode, e.versions)
	if mismatch == nil {
		return nil
	}
	failure := &Failure{Cause: mismatch.Error(), Offset: -1, Fatal: true}
	return errors.Join(mismatch, e.Send(&FromTask{Message: &FromTask_Failure{Failure: failure}}))
}
