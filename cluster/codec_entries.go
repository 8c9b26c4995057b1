package cluster

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/hammr/hammr/preempt"
)

// The first byte of encoded entries.
const (
	entriesVersion      = 1
	namedEntriesVersion = 2 // some entries name a user; from cluster version 2 on
)

// namedEntries is the stored form of entries of which some name a user.
type namedEntries struct {
	_       struct{} `cbor:",toarray"`
	By      []string // of each entry
	Records []entryRecord
}

// entryRecord is the stored form of an Entry.
type entryRecord struct {
	_        struct{} `cbor:",toarray"`
	At       int64
	Client   string
	Sequence uint64
	Verb     string
	Command  cbor.RawMessage
}

// verb is the stored form of a type of command.
type verb struct {
	name   string       // never changes: logs hold it
	from   int          // cluster version that has the command
	stored reflect.Type // the type that is encoded
	decode func(data []byte) (Command, error)
}

// verbs lists all stored forms, in the order of their names.
var verbs = []verb{
	verbOf[AdmitMachine]("admit_machine"),
	verbOf[ArchiveJob]("archive_job"),
	verbOf[CheckpointAttempt]("checkpoint_attempt"),
	verbOf[CloseJob]("close_job"),
	verbOf[CommitJob]("commit_job"),
	verbOf[DeclinePreemption]("decline_pause"),
	verbOf[DrainMachine]("drain_machine"),
	verbOf[ExitAttempt]("end_attempt"),
	verbOf[EndOutagePause]("end_outage_pause"),
	verbOf[ExpireMachine]("expire_machine"),
	verbOf[FailAttempt]("fail_attempt"),
	verbOf[FailJob]("fail_job"),
	verbOf[FinishAttempt]("finish_attempt"),
	verbOf[ForgetMachine]("forget_machine"),
	verbOf[JoinMachine]("join_machine"),
	storedAs[killRecord]("kill_attempt"),
	verbOf[KillJob]("kill_job"),
	verbOf[LoseOutput]("lose_output"),
	verbOf[MoveAttempt]("move_attempt"),
	verbOf[MoveCheckpoint]("move_checkpoint"),
	verbOf[MoveOutput]("move_output"),
	storedAs[saveRecord]("pause_attempt"),
	verbOf[RestoreOutput]("restore_output"),
	verbOf[ResumeAttempt]("resume_attempt"),
	verbOf[ResumeJob]("resume_job"),
	verbOf[RetireJob]("retire_job"),
	verbOf[SetHealth]("set_health"),
	verbOf[SetLimits]("set_limits"),
	verbOf[SetPolicy]("set_policy"),
	verbOf[SetPool]("set_pool"),
	verbOf[SetPools]("set_pools"),
	verbOf[SetPriority]("set_priority"),
	verbOf[SetVersion]("set_version").since(2),
	verbOf[SpeculateTask]("speculate_task"),
	verbOf[SplitTask]("split_task"),
	verbOf[StartAttempt]("start_attempt"),
	verbOf[StartBundle]("start_bundle"),
	verbOf[StartJob]("start_job"),
	verbOf[SubmitJob]("submit_job"),
	storedAs[suspendRecord]("suspend_attempt"),
	verbOf[SuspendJob]("suspend_job"),
}

var (
	verbsByName = make(map[string]verb, len(verbs))
	verbsByType = make(map[reflect.Type]verb, len(verbs))
)

func init() {
	for _, v := range verbs {
		verbsByName[v.name], verbsByType[v.stored] = v, v
		findNewerFields(v.stored)
	}
}

// since returns the verb of a command that is newer than FirstVersion.
func (v verb) since(version int) verb {
	v.from = version
	return v
}

// verbOf returns the verb of a command that is stored as it is.
func verbOf[C Command](name string) verb {
	return verb{name: name, from: FirstVersion, stored: reflect.TypeFor[C](), decode: func(data []byte) (Command, error) {
		var c C
		err := decoding.Unmarshal(data, &c)
		return c, err
	}}
}

// commandRecord is a command in a stored form of its own.
type commandRecord interface{ command() Command }

// storedAs returns the verb of a command with a stored form of its own.
func storedAs[R commandRecord](name string) verb {
	return verb{name: name, from: FirstVersion, stored: reflect.TypeFor[R](), decode: func(data []byte) (Command, error) {
		var r R
		err := decoding.Unmarshal(data, &r)
		return r.command(), err
	}}
}

// PreemptAttempt is stored as one of three verbs; KillAttempt shares the third.
type (
	saveRecord struct {
		Attempt AttemptID   `cbor:"Attempt"`
		Cause   string      `cbor:"Cause"`
		Split   bool        `cbor:"Split"`
		For     Beneficiary `cbor:"For,omitzero" version:"2"`
	}
	suspendRecord struct {
		Attempt AttemptID   `cbor:"Attempt"`
		Cause   string      `cbor:"Cause"`
		For     Beneficiary `cbor:"For,omitzero" version:"2"`
	}
	killRecord struct {
		Attempt AttemptID   `cbor:"Attempt"`
		Cause   string      `cbor:"Cause"`
		Preempt bool        `cbor:"Preempt"`
		For     Beneficiary `cbor:"For,omitzero" version:"2"` // of a preemption
	}
)

// command returns PreemptAttempt by Split or Checkpoint.
func (r saveRecord) command() Command {
	mode := preempt.Checkpoint
	if r.Split {
		mode = preempt.Split
	}
	return PreemptAttempt{Attempt: r.Attempt, Mode: mode, Cause: r.Cause, For: r.For}
}

// command returns PreemptAttempt by Suspend.
func (r suspendRecord) command() Command {
	return PreemptAttempt{Attempt: r.Attempt, Mode: preempt.Suspend, Cause: r.Cause, For: r.For}
}

// command returns PreemptAttempt by Kill, or KillAttempt, which does not count as a
// preemption.
func (r killRecord) command() Command {
	if r.Preempt {
		return PreemptAttempt{Attempt: r.Attempt, Mode: preempt.Kill, Cause: r.Cause, For: r.For}
	}
	return KillAttempt{Attempt: r.Attempt, Cause: r.Cause}
}

// storedForm returns the stored form of a command: the command itself, except for
// preemptions. Logs keep preemptions under one verb for each mode.
func storedForm(command Command) any {
	switch c := command.(type) {
	case KillAttempt:
		return killRecord{Attempt: c.Attempt, Cause: c.Cause}
	case PreemptAttempt:
		switch c.Mode {
		case preempt.Split, preempt.Checkpoint:
			return saveRecord{Attempt: c.Attempt, Cause: c.Cause, Split: c.Mode == preempt.Split, For: c.For}
		case preempt.Suspend:
			return suspendRecord{Attempt: c.Attempt, Cause: c.Cause, For: c.For}
		case preempt.Kill:
			return killRecord{Attempt: c.Attempt, Cause: c.Cause, Preempt: true, For: c.For}
		}
	}
	return command
}

// EncodeEntries writes entries in a form that every later version can read. Masters of cluster
// version 1 can read it too if no entry names a user.
func EncodeEntries(entries []Entry) ([]byte, error) {
	records, users, named := make([]entryRecord, len(entries)), make([]string, len(entries)), false
	for i, e := range entries {
		users[i], named = e.By, named || e.By != ""
		stored := storedForm(e.Command)
		v, ok := verbsByType[reflect.TypeOf(stored)]
		if !ok {
			return nil, fmt.Errorf("cluster: command %T has no name in a log", e.Command)
		}
		command, err := encoding.Marshal(stored)
		if err != nil {
			return nil, fmt.Errorf("cluster: command %s: %w", v.name, err)
		}
		records[i] = entryRecord{At: e.At, Client: e.Client, Sequence: e.Sequence, Verb: v.name, Command: command}
	}
	version, content := byte(entriesVersion), any(records)
	if named {
		version, content = namedEntriesVersion, namedEntries{By: users, Records: records}
	}
	body, err := encoding.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("cluster: entries: %w", err)
	}
	return append([]byte{version}, body...), nil
}

// DecodeEntries reads what EncodeEntries has written. Fields, commands and versions that
// this program does not know are an error.
func DecodeEntries(data []byte) ([]Entry, error) {
	if len(data) == 0 {
		return nil, errors.New("cluster: no entries in 0 bytes")
	}
	stored, err := decodeNamed(data)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(stored.Records))
	for i, r := range stored.Records {
		if entries[i], err = r.entry(); err != nil {
			return nil, fmt.Errorf("cluster: entry %d of %d: %w", i+1, len(entries), err)
		}
		entries[i].By = stored.By[i]
	}
	return entries, nil
}

// decodeNamed reads the stored forms of entries, with a user for each.
func decodeNamed(data []byte) (stored namedEntries, err error) {
	switch data[0] {
	case entriesVersion:
		err = decoding.Unmarshal(data[1:], &stored.Records)
		stored.By = make([]string, len(stored.Records))
	case namedEntriesVersion:
		err = decoding.Unmarshal(data[1:], &stored)
	default:
		return stored, fmt.Errorf("cluster: entries of format %d: this version of hammr reads formats %d and %d", data[0], entriesVersion, namedEntriesVersion)
	}
	if err == nil && len(stored.By) != len(stored.Records) {
		err = fmt.Errorf("%d users of %d entries", len(stored.By), len(stored.Records))
	}
	if err != nil {
		return stored, fmt.Errorf("cluster: entries: %w", err)
	}
	return stored, nil
}

// entry decodes the command of an entry by its verb. An unknown verb comes from a newer
// version. It is an error: if a master skipped it, the states of masters would diverge.
func (r entryRecord) entry() (Entry, error) {
	v, ok := verbsByName[r.Verb]
	if !ok {
		return Entry{}, fmt.Errorf("command %q: this version of hammr does not know it", r.Verb)
	}
	command, err := v.decode(r.Command)
	if err != nil {
		return Entry{}, fmt.Errorf("command %s: %w", r.Verb, err)
	}
	if raise, ok := command.(SetVersion); ok {
		err = checkSupported(raise.Version)
	}
	return Entry{At: r.At, Client: r.Client, Sequence: r.Sequence, Command: command}, err
}
