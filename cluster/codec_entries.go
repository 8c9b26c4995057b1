package cluster

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// entriesVersion is the first byte of encoded entries. It is not a cluster version.
const entriesVersion = 3

// entryRecord is the stored form of an Entry.
type entryRecord struct {
	_        struct{} `cbor:",toarray"`
	At       int64
	Client   string
	Sequence uint64
	By       string
	Verb     string
	Command  cbor.RawMessage
}

// verb is the name of a type of command in logs.
type verb struct {
	name    string // never changes: logs hold it
	from    int    // first cluster version that has the command; 0: all have it
	command reflect.Type
	decode  func(data []byte) (Command, error)
}

// verbs lists all commands, in the order of their names.
var verbs = []verb{
	verbOf[AdmitMachine]("admit_machine"),
	verbOf[ArchiveJob]("archive_job"),
	verbOf[CheckpointAttempt]("checkpoint_attempt"),
	verbOf[CloseJob]("close_job"),
	verbOf[CommitJob]("commit_job"),
	verbOf[DeclinePreemption]("decline_preemption"),
	verbOf[DrainMachine]("drain_machine"),
	verbOf[EndOutagePause]("end_outage_pause"),
	verbOf[ExitAttempt]("exit_attempt"),
	verbOf[ExpireMachine]("expire_machine"),
	verbOf[FailAttempt]("fail_attempt"),
	verbOf[FailJob]("fail_job"),
	verbOf[FinishAttempt]("finish_attempt"),
	verbOf[ForgetMachine]("forget_machine"),
	verbOf[JoinMachine]("join_machine"),
	verbOf[KillAttempt]("kill_attempt"),
	verbOf[KillJob]("kill_job"),
	verbOf[LoseOutput]("lose_output"),
	verbOf[MoveAttempt]("move_attempt"),
	verbOf[MoveCheckpoint]("move_checkpoint"),
	verbOf[MoveOutput]("move_output"),
	verbOf[PreemptAttempt]("preempt_attempt"),
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
	verbOf[SetVersion]("set_version"),
	verbOf[SpeculateTask]("speculate_task"),
	verbOf[SplitTask]("split_task"),
	verbOf[StartAttempt]("start_attempt"),
	verbOf[StartBundle]("start_bundle"),
	verbOf[StartJob]("start_job"),
	verbOf[SubmitJob]("submit_job"),
	verbOf[SuspendJob]("suspend_job"),
}

var (
	verbsByName = make(map[string]verb, len(verbs))
	verbsByType = make(map[reflect.Type]verb, len(verbs))
)

func init() {
	for _, v := range verbs {
		verbsByName[v.name], verbsByType[v.command] = v, v
		newerFieldsOf(v.command, true)
	}
}

// verbOf returns the verb of a command.
func verbOf[C Command](name string) verb {
	return verb{name: name, command: reflect.TypeFor[C](), decode: func(data []byte) (Command, error) {
		var c C
		err := decoding.Unmarshal(data, &c)
		return c, err
	}}
}

// EncodeEntries writes entries in a form that every later version can read.
func EncodeEntries(entries []Entry) ([]byte, error) {
	records := make([]entryRecord, len(entries))
	for i, e := range entries {
		v, ok := verbsByType[reflect.TypeOf(e.Command)]
		if !ok {
			return nil, fmt.Errorf("cluster: command %T has no name in a log", e.Command)
		}
		command, err := encoding.Marshal(e.Command)
		if err != nil {
			return nil, fmt.Errorf("cluster: command %s: %w", v.name, err)
		}
		records[i] = entryRecord{At: e.At, Client: e.Client, Sequence: e.Sequence, By: e.By, Verb: v.name, Command: command}
	}
	body, err := encoding.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("cluster: entries: %w", err)
	}
	return append([]byte{entriesVersion}, body...), nil
}

// DecodeEntries reads what EncodeEntries has written. Fields, commands and versions that
// this program does not know are an error.
func DecodeEntries(data []byte) ([]Entry, error) {
	if len(data) == 0 {
		return nil, errors.New("cluster: no entries in 0 bytes")
	}
	if data[0] != entriesVersion {
		return nil, fmt.Errorf("cluster: entries of format %d: this version of hammr reads format %d", data[0], entriesVersion)
	}
	var records []entryRecord
	if err := decoding.Unmarshal(data[1:], &records); err != nil {
		return nil, fmt.Errorf("cluster: entries: %w", err)
	}
	entries := make([]Entry, len(records))
	for i, r := range records {
		var err error
		if entries[i], err = r.entry(); err != nil {
			return nil, fmt.Errorf("cluster: entry %d of %d: %w", i+1, len(entries), err)
		}
	}
	return entries, nil
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
	return Entry{At: r.At, Client: r.Client, Sequence: r.Sequence, Command: command, By: r.By}, err
}
