package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"roomgate/agent/device"
	"roomgate/agent/strict"
)

// createDevice makes a device that is in use from then on.
func createDevice(s *Server, c *call) error {
	var space, id, deviceType, driver string
	var poll, timeout, alert, enabled, options json.RawMessage
	err := c.decode(strict.Required("meeting_space_id", &space), strict.Optional("id", &id), strict.Required("device_type", &deviceType),
		strict.Required("driver", &driver), strict.Optional("poll", &poll), strict.Optional("timeout", &timeout),
		strict.Optional("alert", &alert), strict.Optional("enabled", &enabled), strict.Optional("options", &options))
	if err != nil {
		return err
	}
	if c.v2 {
		if err := durations(map[string]*json.RawMessage{"poll_s": &poll, "timeout_s": &timeout}); err != nil {
			return err
		}
	}
	document := map[string]any{"type": deviceType, "driver": driver}
	for name, given := range map[string]json.RawMessage{"poll": poll, "timeout": timeout, "alert": alert, "enabled": enabled, "options": options} {
		if given != nil {
			document[name] = given
		}
	}
	text, err := json.Marshal(document) // a copy: the request's body is used again
	if err != nil {
		return err
	}
	info, err := s.agent.Site.AddDevice(c.r.Context(), space, id, text, c.who.Name)
	if err != nil {
		return deviceField(err)
	}
	return s.made(c, info)
}

// deviceField puts the refusal of a configuration into the words of this door.
func deviceField(err error) error {
	e := *device.AsError(err)
	if e.Field == "type" {
		e.Field, e.Message = "device_type", strings.ReplaceAll(e.Message, "type ", "")
		return &e
	}
	return err
}

// made answers with a device that was made, or that got a sensor.
func (s *Server) made(c *call, info device.Info) error {
	if c.v2 {
		return s.device(c, http.StatusCreated, info.ID)
	}
	return c.wrapped(http.StatusCreated, envelope, info)
}

// removeDevice takes away a device that was made at run time.
func removeDevice(s *Server, c *call) error {
	if err := s.agent.Site.RemoveDevice(c.r.Context(), c.params[0], c.who.Name); err != nil {
		return err
	}
	return c.none()
}

// createSensor makes a sub-device of a device, or changes where it comes from.
func createSensor(s *Server, c *call) error {
	var sub string
	var options json.RawMessage
	err := c.decode(strict.Required("sub_device", &sub), strict.Required("options", &options))
	if err != nil {
		return err
	}
	if options[0] != '{' {
		return invalid("options", "is not an object")
	}
	info, err := s.agent.Site.SetSensor(c.r.Context(), c.params[0], sub, append(json.RawMessage(nil), options...), c.who.Name)
	if err != nil {
		return err
	}
	return s.made(c, info)
}

// removeSensor takes away what was added to a device for a sub-device.
func removeSensor(s *Server, c *call) error {
	if _, err := s.agent.Site.SetSensor(c.r.Context(), c.params[0], c.params[1], nil, c.who.Name); err != nil {
		return err
	}
	return c.none()
}
