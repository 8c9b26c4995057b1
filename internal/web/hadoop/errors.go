package hadoop

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hammr/hammr/internal/docs"
)

// failure is an error with the status and the class that Hadoop answers.
type failure struct {
	status int
	class  string // of Java
	text   string
}

func (f *failure) Error() string { return f.text }

const webapp = "org.apache.hadoop.yarn.webapp."

func badRequest(format string, args ...any) error {
	return &failure{http.StatusBadRequest, webapp + "BadRequestException", fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error {
	return &failure{http.StatusNotFound, webapp + "NotFoundException", "java.lang.Exception: " + fmt.Sprintf(format, args...)}
}

// failureOf returns how Hadoop answers an error. status is that of an error of another kind.
func failureOf(err error, status int) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	switch {
	case errors.Is(err, docs.ErrUnknown):
		return &failure{http.StatusNotFound, webapp + "NotFoundException", "java.lang.Exception: " + err.Error()}
	case errors.Is(err, docs.ErrRefused):
		return &failure{http.StatusForbidden, webapp + "ForbiddenException", err.Error()}
	case errors.Is(err, docs.ErrUnavailable):
		return &failure{http.StatusServiceUnavailable, "org.apache.hadoop.ipc.StandbyException", err.Error()}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &failure{http.StatusUnauthorized, "org.apache.hadoop.security.AccessControlException", err.Error()}
	case status >= http.StatusInternalServerError:
		return &failure{status, "java.lang.RuntimeException", err.Error()}
	}
	return &failure{status, webapp + "BadRequestException", err.Error()}
}

// document returns the answer about an error.
func (f *failure) document() *document {
	return &document{root: "RemoteException", status: f.status, body: object{
		{"exception", f.class[strings.LastIndexByte(f.class, '.')+1:]}, {"message", f.text}, {"javaClassName", f.class},
	}}
}

// Fail answers a request with an error. status is that of an error that is none of this package,
// such as a refusal of the caller: Hadoop answers 401 where 403 is meant.
func Fail(w http.ResponseWriter, r *http.Request, status int, err error) {
	_ = failureOf(err, status).document().send(w, r) // the client may have disconnected
}
