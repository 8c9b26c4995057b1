package jobmaster

import (
	"maps"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/taskproc"
)

// This file tells a task of the group that it is: what its Nodes read, and who
// runs beside it.

// sourcesMessage are the splits that the source Nodes of a group read.
func sourcesMessage(j *cluster.Job, t *cluster.Task, splits []*taskproc.Split) []*taskproc.Source {
	var messages []*taskproc.Source
	for _, s := range j.SourcesOf(t) {
		messages = append(messages, &taskproc.Source{Stage: int32(s.Stage), Node: int32(s.Node), Split: splits[s.Split]})
	}
	return messages
}

// bundleMessage is the gang that an attempt is started in, nil when it starts alone.
// It has those that start with it: others had finished when the gang was paused.
func (m *Master) bundleMessage(stage *cluster.Stage, a *cluster.Attempt) *taskproc.Bundle {
	b := stage.Bundle
	if !b.Gang {
		return nil
	}
	number := a.ID.Task.Number / b.TasksIn(stage)
	message := &taskproc.Bundle{Class: int32(b.Index), Bundle: int32(number), Incarnation: int32(b.Incarnation(number))}
	for _, member := range b.TasksOf(number) {
		if !member.StartedWith(a) {
			continue
		}
		latest := member.Attempts[len(member.Attempts)-1]
		_, class, _, _ := m.view.Task(member.ID)
		message.Groups = append(message.Groups, &taskproc.Bundle_Group{
			Class: int32(class.Index), Group: int32(member.ID.Number), Address: m.addressOf(latest.Machine),
		})
	}
	return message
}

// combineMessages is whose records the Nodes of a group combine.
func combineMessages(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) []*taskproc.Share {
	shares := j.CombineSetsOf(t)
	var messages []*taskproc.Share
	for _, edge := range slices.Sorted(maps.Keys(shares)) {
		message := &taskproc.Share{Edge: int32(edge), Node: int32(t.ID.Number)}
		for _, writer := range shares[edge] {
			message.Writers = append(message.Writers, int32(writer))
		}
		messages = append(messages, message)
	}
	return messages
}
