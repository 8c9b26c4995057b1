package mr

import "io"

// FuncOutput is an output without files: it calls write for each record, in the order of the
// task's output. Tasks run concurrently, so write must be safe for that. Attempts that fail
// later call it too.
func FuncOutput[K, V any](write func(t *Task, key K, value V) error) Output[K, V] {
	return funcOutput[K, V](write)
}

// NullOutput is the output of a job that writes no files.
func NullOutput[K, V any]() Output[K, V] {
	return FuncOutput(func(*Task, K, V) error { return nil })
}

type funcOutput[K, V any] func(t *Task, key K, value V) error

func (funcOutput[K, V]) Suffix(*Task) (string, error) { return "", nil }

func (f funcOutput[K, V]) Create(t *Task, _ io.Writer) (RecordWriter[K, V], error) {
	return &funcWriter[K, V]{f, t}, nil
}

type funcWriter[K, V any] struct {
	write func(t *Task, key K, value V) error
	task  *Task
}

func (w *funcWriter[K, V]) Write(key K, value V) error { return w.write(w.task, key, value) }
func (w *funcWriter[K, V]) Close() error               { return nil }
