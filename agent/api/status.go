package api

import (
	"roomgate/agent/device"
	"roomgate/agent/problem"
	"roomgate/agent/strict"
)

// status answers what is known of a device now. It is what room displays ask
// all day: nothing here waits for a device or a disk, and the answer was
// encoded when it was observed.
func status(s *Server, c *call) error {
	err := c.decode(strict.Required("device_type", &c.of.deviceType), strict.Optional("sub_device", &c.of.sub))
	if err != nil {
		return err
	}
	deviceType, sub := c.of.deviceType, c.of.sub
	if deviceType == typeAll {
		return statusAll(s, c, sub)
	}
	reading, err := s.agent.Site.Status(c.params[0], deviceType, sub)
	if err != nil {
		return knownType(err, deviceType, typeAll)
	}
	_, wrapped := reading.Encoded()
	return c.raw(wrapped)
}

// statusAll answers with every device and sub-device of the space.
func statusAll(s *Server, c *call, sub string) error {
	if sub != "" {
		return invalid("sub_device", "has no meaning with device_type all: leave it out")
	}
	readings, err := s.agent.Site.StatusAll(c.params[0])
	if err != nil {
		return err
	}
	body := append(c.body[:0], `{"response":{"devices":[`...)
	for i := range readings {
		if i > 0 {
			body = append(body, ',')
		}
		plain, _ := readings[i].Encoded()
		body = append(body, plain...)
	}
	c.body = append(body, `]}}`...)
	return c.raw(c.body)
}

// knownType turns the refusal of a device into that of its type, if the type
// does not exist at all.
func knownType(err error, deviceType string, also ...string) error {
	if e := device.AsError(err); e.Code == problem.NotFound && e.Field == "device_type" {
		if wrong := unknownType(deviceType, also...); wrong != nil {
			return wrong
		}
	}
	return err
}
