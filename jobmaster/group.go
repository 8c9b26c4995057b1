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

// bundleMessage is the gang that a task is started in, nil when it starts alone.
func (m *Master) bundleMessage(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) *taskproc.Bundle {
	b := stage.Bundle
	if !b.Gang {
		return nil
	}
	number := b.NumberOf(stage, t)
	message := &taskproc.Bundle{Class: int32(b.Index), Bundle: int32(number), Incarnation: int32(b.Incarnation(number))}
	for _, member := range b.TasksOf(number) {
		_, class, _, _ := m.view.Task(member.ID)
		latest := member.Attempts[len(member.Attempts)-1]
		message.Groups = append(message.Groups, &taskproc.Bundle_Group{
			Class: int32(class.Index), Group: int32(member.ID.Number), Address: m.addressOf(latest.Machine),
		})
	}
	return message
}

// sharesMessage is whose records the Nodes of a group combine.
func sharesMessage(j *cluster.Job, stage *cluster.Stage, t *cluster.Task) []*taskproc.Share {
	shares := j.SharesOf(t)
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
