package mr

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// packagePrefix begins the names of this package's functions.
var packagePrefix = reflect.TypeFor[Task]().PkgPath() + "."

// maxDepth bounds the calls of this package between the user's code and callerPosition.
const maxDepth = 8

// callerPosition returns the file:line at which code outside this package called into it.
func callerPosition() string {
	var callers [maxDepth]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, packagePrefix) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
	}
}
