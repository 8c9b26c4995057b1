package mr

import "reflect"

// instance returns the copy of v that one attempt uses: what v itself makes for an attempt,
// a copy of the struct that v points to, or v.
func instance[T any](v T) T {
	if m, ok := any(v).(interface{ forAttempt() T }); ok {
		return m.forAttempt()
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Pointer || r.IsNil() || r.Elem().Kind() != reflect.Struct {
		return v
	}
	c := reflect.New(r.Elem().Type())
	c.Elem().Set(r.Elem())
	return c.Interface().(T)
}
