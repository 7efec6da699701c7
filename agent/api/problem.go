package api

import (
	"encoding/json"
	"net/http"

	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// Codes that only this door knows; the others are the agent's.
const (
	malformed                     = strict.Malformed         // not HTTP or JSON as it should be
	methodNotAllowed problem.Code = "method_not_allowed"     // Allow names the right ones
	tooLarge         problem.Code = "payload_too_large"      // the body
	unsupportedType  problem.Code = "unsupported_media_type" // the body's type
)

// kind is how a code looks over HTTP.
type kind struct {
	status int
	title  string // the same for every problem of the code
}

// kinds is the one table from codes to HTTP. A failed command answers with its
// receipt under the same status.
var kinds = map[problem.Code]kind{
	problem.Invalid:      {http.StatusUnprocessableEntity, "A value cannot be accepted"},
	problem.NotFound:     {http.StatusNotFound, "There is no such thing here"},
	problem.Conflict:     {http.StatusConflict, "It contradicts what is there already"},
	problem.Forbidden:    {http.StatusForbidden, "This caller may not do that"},
	problem.Expired:      {http.StatusGatewayTimeout, "It waited longer than it was valid"},
	problem.Unavailable:  {http.StatusServiceUnavailable, "What is needed for it is not available now"},
	problem.NotFollowed:  {http.StatusBadGateway, "The device did not follow the command"},
	problem.Full:         {http.StatusInsufficientStorage, "The gateway's storage is full"},
	problem.Unwritable:   {http.StatusInsufficientStorage, "The gateway's storage cannot be written"},
	problem.Stale:        {http.StatusPreconditionFailed, "It has changed since it was read"},
	problem.NotNow:       {http.StatusConflict, "Its state or the time does not allow that"},
	problem.Internal:     {http.StatusInternalServerError, "The gateway failed"},
	malformed:            {http.StatusBadRequest, "The request cannot be read"},
	problem.Unauthorized: {http.StatusUnauthorized, "A valid credential is needed"},
	methodNotAllowed:     {http.StatusMethodNotAllowed, "This path does not take that method"},
	tooLarge:             {http.StatusRequestEntityTooLarge, "The body is too large"},
	unsupportedType:      {http.StatusUnsupportedMediaType, "The body has the wrong type"},
	problem.TooMany:      {http.StatusTooManyRequests, "Too many requests"},
	problem.Busy:         {http.StatusServiceUnavailable, "There are too many already"},
}

// kindOf never fails: a code without a row is our own mistake.
func kindOf(code problem.Code) kind {
	if k, ok := kinds[code]; ok {
		return k
	}
	return kinds[problem.Internal]
}

// problemBody is the body of every error (RFC 9457), with three members of ours.
type problemBody struct {
	Type     string       `json:"type"`
	Title    string       `json:"title"`
	Status   int          `json:"status"`
	Detail   string       `json:"detail"`
	Code     problem.Code `json:"code"`               // stable, for programs
	Field    string       `json:"field,omitempty"`    // the request's field at fault
	Conflict *interval    `json:"conflict,omitempty"` // the time in the way, never whose it is
}

// interval is a time that is taken, half-open.
type interval struct {
	Start moment `json:"start_time"`
	End   moment `json:"end_time"` // null: open
}

// problemType is what the type of every problem begins with.
const problemType = "urn:roomgate:problem:"

func newProblem(e *problem.Error) problemBody {
	k := kindOf(e.Code)
	p := problemBody{Type: problemType + string(e.Code), Title: k.title, Status: k.status, Detail: e.Error(), Code: e.Code, Field: e.Field}
	if e.Busy != nil {
		p.Conflict = &interval{moment(e.Busy.Start), moment(e.Busy.End)}
	}
	return p
}

func encodeProblem(e *problem.Error) (status int, body []byte) {
	p := newProblem(e)
	body, _ = json.Marshal(p) // texts and times only
	return p.Status, body
}

// invalid refuses the value of a field.
func invalid(field, message string) error {
	return &problem.Error{Code: problem.Invalid, Field: field, Message: message}
}
