package api

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
)

// enableDevice takes a device into use again, disableDevice out of use, until
// the other is asked for, also over restarts.
func enableDevice(s *Server, c *call) error  { return s.enable(c, true) }
func disableDevice(s *Server, c *call) error { return s.enable(c, false) }

func (s *Server) enable(c *call, enabled bool) error {
	if err := c.decodeAny(); err != nil {
		return err
	}
	return s.setDevice(c, c.params[0], device.Settings{Enabled: &enabled}, false)
}

func (s *Server) setDevice(c *call, id string, set device.Settings, reset bool) error {
	info, err := s.agent.Site.SetDevice(c.r.Context(), id, set, reset, c.who.Name)
	if err != nil {
		return err
	}
	if c.v2 {
		return s.device(c, http.StatusOK, id)
	}
	return c.response(info)
}

// changeDevice sets what of a device can be changed while it is in use. What
// is not named stays; reset drops what was set before.
func changeDevice(s *Server, c *call) error {
	var set device.Settings
	var reset bool
	err := c.decode(member{"enabled", false, given(&set.Enabled)}, member{"poll", false, decodePoll(&set)},
		member{"alert", false, []member{{"low", false, decodeNumber(&set.AlertLow)},
			{"high", false, decodeNumber(&set.AlertHigh)}, {"hysteresis", false, decodeNumber(&set.AlertHysteresis)}}},
		member{"permissions", false, decodePermissions(&set)}, member{"reset", false, &reset})
	if err != nil {
		return err
	}
	if set == (device.Settings{}) && !reset {
		return problem.New(problem.Invalid, "", "nothing is to be changed: send enabled, %v, alert, permissions or reset", problem.FieldName("poll"))
	}
	return s.setDevice(c, c.params[0], set, reset)
}

// decodePermissions reads who may give which command.
func decodePermissions(set *device.Settings) decoder {
	return func(field string, value []byte) error {
		items, err := elements(field, value)
		if err != nil {
			return err
		}
		all := make([]device.Permission, len(items))
		for i, item := range items {
			at := field + "[" + strconv.Itoa(i) + "]"
			if item[0] != '{' {
				return invalid(at, "is not an object")
			}
			p := &all[i]
			err := decodeMembers(item, at+".", []member{{"sub_device", false, &p.SubDevice}, {"action", true, &p.Action},
				{"allow", true, decodeTexts(&p.Allow)}})
			if err != nil {
				return err
			}
		}
		set.Permissions = &all
		return nil
	}
}

// decodePoll reads a duration or, of V2.0, seconds.
func decodePoll(set *device.Settings) decoder {
	return func(field string, value []byte) error {
		if field == "poll_s" {
			return decodeSeconds(&set.Poll, field, value)
		}
		s, err := decodeText(field, value)
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return invalid(field, `is not a duration: want one like "5s"`)
		}
		set.Poll = &d
		return nil
	}
}

func decodeNumber(into **float64) decoder {
	return func(field string, value []byte) error {
		var f float64
		if err := json.Unmarshal(value, &f); err != nil || math.IsInf(f, 0) {
			return invalid(field, "is not a number")
		}
		*into = &f
		return nil
	}
}
