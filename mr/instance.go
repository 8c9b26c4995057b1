package mr

import "reflect"

// instance is a copy of v for one attempt: of the struct that v points to, or
// of v itself.
func instance[T any](v T) T {
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Pointer || r.IsNil() || r.Elem().Kind() != reflect.Struct {
		return v
	}
	c := reflect.New(r.Elem().Type())
	c.Elem().Set(r.Elem())
	return c.Interface().(T)
}
