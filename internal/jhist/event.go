package jhist

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// namespace is that of Hadoop's records.
const namespace = "org.apache.hadoop.mapreduce.jobhistory"

// optional is a text or, if it is empty, null.
type optional string

// MarshalJSON writes a value of the union of null and string, as Avro's JSON has it.
func (o optional) MarshalJSON() ([]byte, error) {
	if o == "" {
		return []byte("null"), nil
	}
	return json.Marshal(map[string]string{"string": string(o)})
}

// The records below have the names and the fields of Hadoop's, without those that have a default
// and that Hammr has no value for. Times are ms since the epoch.

type jhCounter struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Value       int64  `json:"value"`
}

type jhCounterGroup struct {
	Name        string      `json:"name"`
	DisplayName string      `json:"displayName"`
	Counts      []jhCounter `json:"counts"`
}

type jhCounters struct {
	Name   string           `json:"name"`
	Groups []jhCounterGroup `json:"groups"`
}

type aMStarted struct {
	Attempt   string `json:"applicationAttemptId"`
	StartTime int64  `json:"startTime"`
	Container string `json:"containerId"`
	Host      string `json:"nodeManagerHost"`
	Port      int32  `json:"nodeManagerPort"`
	HTTPPort  int32  `json:"nodeManagerHttpPort"`
}

type jobSubmitted struct {
	JobID      string            `json:"jobid"`
	Name       string            `json:"jobName"`
	User       string            `json:"userName"`
	SubmitTime int64             `json:"submitTime"`
	ConfPath   string            `json:"jobConfPath"`
	ACLs       map[string]string `json:"acls"`
	Queue      string            `json:"jobQueueName"`
}

type jobPriorityChange struct {
	JobID    string `json:"jobid"`
	Priority string `json:"priority"`
}

type jobInfoChange struct {
	JobID      string `json:"jobid"`
	SubmitTime int64  `json:"submitTime"`
	LaunchTime int64  `json:"launchTime"`
}

type jobInited struct {
	JobID      string `json:"jobid"`
	LaunchTime int64  `json:"launchTime"`
	Maps       int32  `json:"totalMaps"`
	Reduces    int32  `json:"totalReduces"`
	Status     string `json:"jobStatus"`
	Uberized   bool   `json:"uberized"`
}

type taskStarted struct {
	TaskID    string `json:"taskid"`
	Type      string `json:"taskType"`
	StartTime int64  `json:"startTime"`
	Locations string `json:"splitLocations"`
}

type taskAttemptStarted struct {
	TaskID      string `json:"taskid"`
	Type        string `json:"taskType"`
	AttemptID   string `json:"attemptId"`
	StartTime   int64  `json:"startTime"`
	Tracker     string `json:"trackerName"`
	HTTPPort    int32  `json:"httpPort"`
	ShufflePort int32  `json:"shufflePort"`
	Container   string `json:"containerId"`
}

// samples are figures over the time of an attempt, which Hammr does not keep.
type samples struct {
	Clock    []int32 `json:"clockSplits"`
	CPU      []int32 `json:"cpuUsages"`
	Virtual  []int32 `json:"vMemKbytes"`
	Physical []int32 `json:"physMemKbytes"`
}

var noSamples = samples{[]int32{}, []int32{}, []int32{}, []int32{}}

type mapAttemptFinished struct {
	TaskID     string     `json:"taskid"`
	AttemptID  string     `json:"attemptId"`
	Type       string     `json:"taskType"`
	Status     string     `json:"taskStatus"`
	MapFinish  int64      `json:"mapFinishTime"`
	FinishTime int64      `json:"finishTime"`
	Host       string     `json:"hostname"`
	Port       int32      `json:"port"`
	Rack       string     `json:"rackname"`
	State      string     `json:"state"`
	Counters   jhCounters `json:"counters"`
	samples
}

type reduceAttemptFinished struct {
	TaskID        string     `json:"taskid"`
	AttemptID     string     `json:"attemptId"`
	Type          string     `json:"taskType"`
	Status        string     `json:"taskStatus"`
	ShuffleFinish int64      `json:"shuffleFinishTime"`
	SortFinish    int64      `json:"sortFinishTime"`
	FinishTime    int64      `json:"finishTime"`
	Host          string     `json:"hostname"`
	Port          int32      `json:"port"`
	Rack          string     `json:"rackname"`
	State         string     `json:"state"`
	Counters      jhCounters `json:"counters"`
	samples
}

type taskAttemptUnsuccessfulCompletion struct {
	TaskID     string `json:"taskid"`
	Type       string `json:"taskType"`
	AttemptID  string `json:"attemptId"`
	FinishTime int64  `json:"finishTime"`
	Host       string `json:"hostname"`
	Port       int32  `json:"port"`
	Rack       string `json:"rackname"`
	Status     string `json:"status"`
	Error      string `json:"error"`
	samples
}

type taskFinished struct {
	TaskID     string     `json:"taskid"`
	Type       string     `json:"taskType"`
	FinishTime int64      `json:"finishTime"`
	Status     string     `json:"status"`
	Counters   jhCounters `json:"counters"`
	Attempt    optional   `json:"successfulAttemptId"`
}

type taskFailed struct {
	TaskID     string   `json:"taskid"`
	Type       string   `json:"taskType"`
	FinishTime int64    `json:"finishTime"`
	Error      string   `json:"error"`
	Attempt    optional `json:"failedDueToAttempt"`
	Status     string   `json:"status"`
}

type jobFinished struct {
	JobID           string     `json:"jobid"`
	FinishTime      int64      `json:"finishTime"`
	FinishedMaps    int32      `json:"finishedMaps"`
	FinishedReduces int32      `json:"finishedReduces"`
	FailedMaps      int32      `json:"failedMaps"`
	FailedReduces   int32      `json:"failedReduces"`
	Total           jhCounters `json:"totalCounters"`
	Maps            jhCounters `json:"mapCounters"`
	Reduces         jhCounters `json:"reduceCounters"`
	KilledMaps      int32      `json:"killedMaps"`
	KilledReduces   int32      `json:"killedReduces"`
}

type jobUnsuccessfulCompletion struct {
	JobID           string   `json:"jobid"`
	FinishTime      int64    `json:"finishTime"`
	FinishedMaps    int32    `json:"finishedMaps"`
	FinishedReduces int32    `json:"finishedReduces"`
	Status          string   `json:"jobStatus"`
	Diagnostics     optional `json:"diagnostics"`
	FailedMaps      int32    `json:"failedMaps"`
	FailedReduces   int32    `json:"failedReduces"`
	KilledMaps      int32    `json:"killedMaps"`
	KilledReduces   int32    `json:"killedReduces"`
}

// records are the records that an event may have.
var records = []any{
	aMStarted{}, jobSubmitted{}, jobPriorityChange{}, jobInfoChange{}, jobInited{}, taskStarted{}, taskAttemptStarted{}, mapAttemptFinished{},
	reduceAttemptFinished{}, taskAttemptUnsuccessfulCompletion{}, taskFinished{}, taskFailed{}, jobFinished{}, jobUnsuccessfulCompletion{},
}

// eventTypes are the types of events.
var eventTypes = []string{
	"AM_STARTED", "JOB_SUBMITTED", "JOB_PRIORITY_CHANGED", "JOB_INFO_CHANGED", "JOB_INITED", "JOB_FINISHED", "JOB_FAILED", "JOB_KILLED",
	"TASK_STARTED", "TASK_FINISHED", "TASK_FAILED",
	"MAP_ATTEMPT_STARTED", "MAP_ATTEMPT_FINISHED", "MAP_ATTEMPT_FAILED", "MAP_ATTEMPT_KILLED",
	"REDUCE_ATTEMPT_STARTED", "REDUCE_ATTEMPT_FINISHED", "REDUCE_ATTEMPT_FAILED", "REDUCE_ATTEMPT_KILLED",
}

// recordName returns the name of a record in Avro: that of its type with a capital in front.
func recordName(t reflect.Type) string { return strings.ToUpper(t.Name()[:1]) + t.Name()[1:] }

// schema returns the Avro schema of an event.
func schema() ([]byte, error) {
	var named []string // records that have been defined
	var union []any
	for _, r := range records {
		union = append(union, schemaOf(reflect.TypeOf(r), &named))
	}
	return json.Marshal(map[string]any{"type": "record", "name": "Event", "namespace": namespace, "fields": []any{
		map[string]any{"name": "type", "type": map[string]any{"type": "enum", "name": "EventType", "symbols": eventTypes}},
		map[string]any{"name": "event", "type": union},
	}})
}

// schemaOf returns the schema of a type. A record is defined once, and named after that.
func schemaOf(t reflect.Type, named *[]string) any {
	switch {
	case t == reflect.TypeFor[optional]():
		return []string{"null", "string"}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": "map", "values": schemaOf(t.Elem(), named)}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), named)}
	case t.Kind() == reflect.Int64:
		return "long"
	case t.Kind() == reflect.Int32:
		return "int"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() != reflect.Struct:
		return "string"
	}
	name := recordName(t)
	if slices.Contains(*named, name) {
		return name
	}
	*named = append(*named, name)
	return map[string]any{"type": "record", "name": name, "fields": fieldsOf(t, named)}
}

// fieldsOf returns the fields of a record. Those of an embedded struct are fields of their own.
func fieldsOf(t reflect.Type, named *[]string) (fields []any) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			fields = append(fields, fieldsOf(f.Type, named)...)
			continue
		}
		fields = append(fields, map[string]any{"name": f.Tag.Get("json"), "type": schemaOf(f.Type, named)})
	}
	return fields
}
