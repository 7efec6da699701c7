package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"roomgate/agent"
	"roomgate/agent/auth"
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
	"roomgate/drivers"
)

const (
	// longestCommand is how long an action waits for its outcome unless told
	// otherwise, and at most.
	longestCommand = 10 * time.Second
	// longestIdempotencyKey is in characters.
	longestIdempotencyKey = 200
	headerIdempotencyKey  = "Idempotency-Key"
)

// action gives a device a command and answers with the receipt.
func action(s *Server, c *call) error {
	o := device.Command{Space: c.params[0], Via: c.who.via, By: c.who.ID}
	var wait json.RawMessage
	err := c.decode(append(c.deviceMembers(&o.DeviceType, &o.SubDevice),
		strict.Required("action", &o.Action), strict.Optional("value", &o.Value), strict.Optional("wait", &wait))...)
	if err != nil {
		return err
	}
	patience, err := parseWait(wait)
	if err != nil {
		return err
	}
	if o.ID, err = requestKey(c); err != nil {
		return err
	}
	o.Value = append(json.RawMessage(nil), o.Value...) // the command outlives the request
	receipt, err := s.do(c, o, patience)
	if err != nil {
		return commandError(err, o)
	}
	return c.receipt(receipt)
}

// do gives the command, and waits for its outcome as long as the caller likes.
func (s *Server) do(c *call, o device.Command, patience time.Duration) (device.Receipt, error) {
	if err := s.agent.Site.Permits(c.who.Principal, o.Space, o.DeviceType, o.SubDevice, o.Action); err != nil {
		return device.Receipt{}, err
	}
	if o.DeviceType == drivers.TypeLock { // nothing of this request lies between the answer and the door
		if err := c.again(); err != nil {
			return device.Receipt{}, err
		}
	}
	if patience > 0 {
		patient(c.w, patience)
		ctx, cancel := context.WithTimeout(c.r.Context(), patience)
		defer cancel()
		return s.agent.Commands.Do(ctx, o)
	}
	return s.agent.Commands.Accept(c.r.Context(), o)
}

// commandError puts the refusal of a command into the words of this door.
func commandError(err error, o device.Command) error {
	e := device.AsError(err)
	switch {
	case e.Code == problem.Conflict && e.Field == "id":
		return invalid(headerIdempotencyKey, "was used before for another command: choose a new one")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &problem.Error{Code: problem.Unavailable, Message: "the command could not be stored in time, nothing was done: try again"}
	}
	return knownType(err, o.DeviceType)
}

// receiptStatus is the HTTP status of a command's outcome.
func receiptStatus(r device.Receipt) int {
	switch r.State {
	case device.Done:
		return http.StatusOK
	case device.Accepted:
		return http.StatusAccepted
	}
	return kindOf(r.Code).status
}

// parseWait reads wait: true (the default), false, or a duration.
func parseWait(raw json.RawMessage) (time.Duration, error) {
	switch string(raw) {
	case "", "true":
		return longestCommand, nil
	case "false":
		return 0, nil
	}
	if raw[0] != '"' {
		return 0, invalid("wait", `is out of range: want true, false or a duration like "5s"`)
	}
	s, err := strict.Unquote(raw)
	if err != nil {
		return 0, err
	}
	return duration("wait", s, longestCommand)
}

// permitted is what a caller may do to a device now.
type permitted struct {
	Action  string `json:"action"`
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"` // why not
}

// lastCommand is the last command to a device since the start.
type lastCommand struct {
	SubDevice string          `json:"sub_device,omitempty"`
	Action    string          `json:"action"`
	Value     json.RawMessage `json:"value,omitempty"`
	Via       string          `json:"via"`
	Receipt   device.Receipt  `json:"receipt"`
}

// controlAnswer is the body of control.
type controlAnswer struct {
	SpaceID    string        `json:"meeting_space_id"`
	DeviceType string        `json:"device_type"`
	SubDevice  string        `json:"sub_device,omitempty"`
	Record     device.Record `json:"record"`
	Actions    []permitted   `json:"actions"`
	Last       *lastCommand  `json:"last_command"` // null: none since the start
}

// control says what the caller may do to the device now, and what was last
// done to it.
func control(s *Server, c *call) error {
	a := controlAnswer{SpaceID: c.params[0]}
	var err error
	if c.v2 {
		a.DeviceType, a.SubDevice, err = c.asked()
	} else {
		err = c.decode(c.deviceMembers(&a.DeviceType, &a.SubDevice)...)
	}
	if err != nil {
		return err
	}
	a.SubDevice = drivers.Canonical(a.SubDevice)
	reading, part, err := s.part(a.SpaceID, a.DeviceType, a.SubDevice)
	if err != nil {
		return err
	}
	a.Record = reading.Record
	a.Actions = []permitted{}
	for _, action := range part.Actions {
		a.Actions = append(a.Actions, s.permit(c.who, a.SpaceID, action.Name, reading))
	}
	if d, err := s.agent.Site.Device(a.SpaceID, a.DeviceType); err == nil {
		a.Last = lastOf(d, a.SubDevice)
	}
	if c.v2 {
		return c.response(newTypedControl(a, reading))
	}
	return c.response(a)
}

// lastOf is the last command to a device or, if sub is not empty, a sub-device,
// since the start; nil: there was none.
func lastOf(d *device.Device, sub string) *lastCommand {
	last := d.Last()
	if last == nil || sub != "" && last.Command.SubDevice != sub {
		return nil
	}
	o := last.Command
	return &lastCommand{o.SubDevice, o.Action, o.Value, o.Via, last.Receipt}
}

// switches says whether POST /edge/control has that action.
func switches(action string) bool {
	return action == drivers.ActOn || action == drivers.ActOff || action == drivers.ActIntensity
}

func (s *Server) permit(who principal, space, action string, r device.Reading) permitted {
	refusal := s.agent.Site.Permits(who.Principal, space, r.DeviceType, r.SubDevice, action)
	switch {
	case !who.May(auth.DevicesWrite):
		return permitted{action, false, lacks(&who, auth.DevicesWrite, permitWrite)}
	case who.Kind == agent.KindEdge && !switches(action):
		return permitted{action, false, "an edge device only switches and dims"}
	case refusal != nil:
		return permitted{action, false, refusal.Error()}
	case r.Status == device.Offline:
		return permitted{action, false, "the device is offline: " + r.Reason}
	}
	return permitted{Action: action, Allowed: true}
}
