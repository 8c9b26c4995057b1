package cluster

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// entriesVersion is the first byte of encoded entries.
const entriesVersion = 1

// entryRecord is an Entry as it is written.
type entryRecord struct {
	_        struct{} `cbor:",toarray"`
	At       int64
	Client   string
	Sequence uint64
	Verb     string
	Command  cbor.RawMessage
}

// verb is how a type of command is written.
type verb struct {
	name    string // never changes: logs hold it
	command reflect.Type
	decode  func(data []byte) (Command, error)
}

// verbs are all commands, each under the name of its file.
var verbs = []verb{
	verbOf[AdmitMachine]("admit_machine"),
	verbOf[CheckpointAttempt]("checkpoint_attempt"),
	verbOf[CloseJob]("close_job"),
	verbOf[CommitJob]("commit_job"),
	verbOf[DeclinePreemption]("decline_pause"),
	verbOf[DrainMachine]("drain_machine"),
	verbOf[ExitAttempt]("end_attempt"),
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
	verbOf[PauseAttempt]("pause_attempt"),
	verbOf[RestoreOutput]("restore_output"),
	verbOf[ResumeAttempt]("resume_attempt"),
	verbOf[ResumeJob]("resume_job"),
	verbOf[RetireJob]("retire_job"),
	verbOf[SetPolicy]("set_policy"),
	verbOf[SetPool]("set_pool"),
	verbOf[SetPools]("set_pools"),
	verbOf[SetPriority]("set_priority"),
	verbOf[SpeculateTask]("speculate_task"),
	verbOf[SplitTask]("split_task"),
	verbOf[StartAttempt]("start_attempt"),
	verbOf[StartBundle]("start_bundle"),
	verbOf[StartJob]("start_job"),
	verbOf[SubmitJob]("submit_job"),
	verbOf[SuspendAttempt]("suspend_attempt"),
	verbOf[SuspendJob]("suspend_job"),
}

var (
	verbsByName = make(map[string]verb, len(verbs))
	verbsByType = make(map[reflect.Type]verb, len(verbs))
)

func init() {
	for _, v := range verbs {
		verbsByName[v.name], verbsByType[v.command] = v, v
	}
}

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
		records[i] = entryRecord{At: e.At, Client: e.Client, Sequence: e.Sequence, Verb: v.name, Command: command}
	}
	body, err := encoding.Marshal(records)
	if err != nil {
		return nil, fmt.Errorf("cluster: entries: %w", err)
	}
	return append([]byte{entriesVersion}, body...), nil
}

// DecodeEntries reads what EncodeEntries has written. It is an error when a
// newer version has written something that this one does not know.
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
		e, err := r.entry()
		if err != nil {
			return nil, fmt.Errorf("cluster: entry %d of %d: %w", i+1, len(records), err)
		}
		entries[i] = e
	}
	return entries, nil
}

func (r entryRecord) entry() (Entry, error) {
	v, ok := verbsByName[r.Verb]
	if !ok {
		return Entry{}, fmt.Errorf("command %q: this version of hammr does not know it", r.Verb)
	}
	command, err := v.decode(r.Command)
	if err != nil {
		return Entry{}, fmt.Errorf("command %s: %w", r.Verb, err)
	}
	return Entry{At: r.At, Client: r.Client, Sequence: r.Sequence, Command: command}, nil
}
