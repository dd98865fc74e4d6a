package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// toConnect returns the error of a call by Connect for that of an interceptor, with the
// same code, message, details and trailers. If the details say when to retry,
// Retry-After does, too.
func toConnect(err error, trailer metadata.MD) error {
	if err == nil {
		return nil
	}
	if already := new(connect.Error); errors.As(err, &already) {
		return already
	}
	s := status.Convert(err)
	e := connect.NewError(connect.Code(s.Code()), errors.New(s.Message()))
	for _, detail := range s.Details() {
		m, ok := detail.(proto.Message)
		if !ok {
			continue
		}
		if d, err := connect.NewErrorDetail(m); err == nil {
			e.AddDetail(d)
		}
		if retry, ok := m.(*errdetails.RetryInfo); ok {
			e.Meta().Set("Retry-After", seconds(retry.GetRetryDelay().AsDuration()))
		}
	}
	for key, values := range trailer {
		for _, value := range values {
			e.Meta().Add(key, value)
		}
	}
	return e
}

// seconds formats a duration as Retry-After takes it, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// tooLarge is the error for a message of more bytes than the limit.
func tooLarge(limit int) error {
	return connect.NewError(connect.CodeResourceExhausted,
		errors.New("the message is larger than "+strconv.Itoa(limit)+" bytes"))
}

// errorWriter writes errors in the form of the protocol that a request speaks.
var errorWriter = connect.NewErrorWriter()

// writeError answers a request with an error: a call in the form of its protocol, others
// in that of a unary call by Connect.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Header.Get("Origin") != "" && isShared(r.URL.Path) {
		share(w) // also if the request has not come as far as crossOrigin
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !isCall(r.URL.Path) {
		// The writer's form follows from the request's content type.
		r.Header.Set("Content-Type", "application/json")
	}
	_ = errorWriter.Write(w, r, toConnect(err, nil))
}

// Refuse answers a request that reached no handler with the status of a call.
func Refuse(w http.ResponseWriter, r *http.Request, err error) { writeError(w, r, err) }

// writeStatus answers a request that is no call with an HTTP status, and an error in the
// form of a unary call by Connect.
func writeStatus(w http.ResponseWriter, status int, code connect.Code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	body, _ := json.Marshal(map[string]string{"code": code.String(), "message": message})
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
