package api

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
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
	err := c.decode(strict.Given("enabled", &set.Enabled), strict.Optional("poll", decodePoll(&set)),
		strict.Optional("alert", []strict.Member{strict.Optional("low", decodeNumber(&set.AlertLow)),
			strict.Optional("high", decodeNumber(&set.AlertHigh)), strict.Optional("hysteresis", decodeNumber(&set.AlertHysteresis))}),
		strict.Optional("permissions", decodePermissions(&set)), strict.Optional("reset", &reset))
	if err != nil {
		return err
	}
	if set == (device.Settings{}) && !reset {
		return problem.New(problem.Invalid, "", "nothing is to be changed: send enabled, %v, alert, permissions or reset", problem.FieldName("poll"))
	}
	return s.setDevice(c, c.params[0], set, reset)
}

// decodePermissions reads who may give which command.
func decodePermissions(set *device.Settings) strict.Decoder {
	return func(field string, value []byte) error {
		items, err := strict.Elements(field, value)
		if err != nil {
			return err
		}
		all := make([]device.Permission, len(items))
		for i, item := range items {
			at := field + "[" + strconv.Itoa(i) + "]"
			p := &all[i]
			err := strict.Value([]strict.Member{strict.Optional("sub_device", &p.SubDevice), strict.Required("action", &p.Action),
				strict.Required("allow", strict.Texts(&p.Allow))}, at, item)
			if err != nil {
				return err
			}
		}
		set.Permissions = &all
		return nil
	}
}

// decodePoll reads a duration or, of V2.0, seconds.
func decodePoll(set *device.Settings) strict.Decoder {
	return func(field string, value []byte) error {
		if field == "poll_s" {
			return decodeSeconds(&set.Poll, field, value)
		}
		s, err := strict.Text(field, value)
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

func decodeNumber(into **float64) strict.Decoder {
	return func(field string, value []byte) error {
		var f float64
		if err := json.Unmarshal(value, &f); err != nil || math.IsInf(f, 0) {
			return invalid(field, "is not a number")
		}
		*into = &f
		return nil
	}
}
