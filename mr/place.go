package mr

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// packagePrefix begins the names of this package's functions.
var packagePrefix = reflect.TypeFor[Task]().PkgPath() + "."

// maxDepth is how many calls of this package at most lie between the user's code
// and callerPlace.
const maxDepth = 8

// callerPlace is the file:line at which code outside this package called into
// it.
func callerPlace() string {
	var callers [maxDepth]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, packagePrefix) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}
