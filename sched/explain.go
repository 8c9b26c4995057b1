package sched

import "github.com/hammr/hammr/cluster"

// Explainer is a policy that can say why a job has the slots that it has. It
// changes nothing, and is asked about jobs that are not over.
type Explainer interface {
	Explain(now int64, view View, job *cluster.Job) []Detail
}

// Detail is something that a policy knows of a job, for people: its share, when it
// would end in the virtual cluster, its rank.
type Detail struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
