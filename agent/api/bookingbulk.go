package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/strict"
)

const (
	// maxOperations is how many operations one bulk request may have.
	maxOperations = 100
	// maxBulk bounds the body of a bulk request.
	maxBulk = 256 << 10
	// bulkPatience is how long a bulk request may take, the pace of changes
	// included; each operation is stored on its own.
	bulkPatience = time.Minute
)

// operationFields is what each operation of a bulk request takes.
var operationFields = map[string][]string{
	opCreate:  append([]string{"revision"}, createFields...),
	opUpdate:  append([]string{"id", "revision"}, updateFields...),
	opCancel:  {"id", "revision"},
	opCheckIn: {"id", "revision"},
	opExtend:  append([]string{"id", "revision"}, extendFields...),
	opEnd:     {"id", "revision"},
}

// bulkResult is the outcome of one operation, under its HTTP status.
type bulkResult struct {
	Index   int            `json:"index"`
	Status  int            `json:"status"`
	Booking *bookingRecord `json:"booking,omitempty"`
	Problem *problemBody   `json:"problem,omitempty"`
}

// bulkBookings carries operations out one after the other. One that is refused
// changes nothing, and does not stop the rest.
func bulkBookings(s *Server, c *call) error {
	body, err := c.readBody(maxBulk, "application/json")
	if err != nil {
		return err
	}
	var operations []json.RawMessage
	if err := strict.Object(body, []strict.Member{strict.Required("operations", &operations)}); err != nil {
		return err
	}
	if n := len(operations); n < 1 || n > maxOperations {
		return invalid("operations", "has "+strconv.Itoa(n)+" of them: want 1 to "+strconv.Itoa(maxOperations))
	}
	key, err := requestKey(c)
	if err != nil {
		return err
	}
	patient(c.w, bulkPatience)
	if err := s.pace(c, len(operations)-1); err != nil { // the request was one
		return err
	}
	results := make([]bulkResult, len(operations))
	for i, operation := range operations {
		who := c.caller()
		if key != "" {
			who.Key = key + "-" + strconv.Itoa(i)
		}
		results[i] = s.bulkOne(c, operation, who)
		results[i].Index = i
	}
	return c.json(http.StatusOK, struct {
		Results []bulkResult `json:"results"`
	}{results})
}

func (s *Server) bulkOne(c *call, encoded []byte, who schedule.Caller) bulkResult {
	operation, f, err := decodeOperation(encoded)
	if err == nil {
		err = f.match(&who)
	}
	if err != nil {
		return s.bulkRefusal(c, err)
	}
	status, b, err := s.perform(c, operation, f, who)
	if err != nil {
		return s.bulkRefusal(c, err)
	}
	record := c.bookingRecord(b)
	return bulkResult{Status: status, Booking: &record}
}

func (s *Server) bulkRefusal(c *call, err error) bulkResult {
	e := device.AsError(err)
	if e.Code == problem.Internal {
		s.log.Error("operation of a bulk request failed", "path", c.r.URL.Path, "error", err)
	}
	named := *e
	if name, ok := itemNames[e.Field]; ok {
		named.Field = name
	}
	p := newProblem(&named)
	return bulkResult{Status: p.Status, Problem: &p}
}

// itemNames are what an item calls what stands in the path or a header
// elsewhere.
var itemNames = map[string]string{"booking_id": "id", "If-Match": "revision"}

// decodeOperation reads one operation; what it takes depends on which it is.
func decodeOperation(encoded []byte) (operation string, f bookingFields, err error) {
	if encoded[0] != '{' {
		return "", f, invalid("operations", "contains an entry that is not an object")
	}
	for key, v := range strict.Each(encoded) {
		if name, _ := strict.Unquote(key); name == "operation" && v[0] == '"' {
			operation, _ = strict.Unquote(v) // if it is there twice, it is refused below
		}
	}
	fields, known := operationFields[operation]
	if !known {
		return "", f, invalid("operation", "is missing or not known: want create, update, cancel, check_in, extend or end")
	}
	err = strict.Value(append(f.members(fields...), strict.Required("operation", &operation)), "", encoded)
	if err == nil && operation != opCreate && f.id == nil {
		err = invalid("id", "is missing")
	}
	return operation, f, err
}
