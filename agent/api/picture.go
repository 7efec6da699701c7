package api

import (
	"bytes"
	"image"
	_ "image/jpeg" // the formats that image.DecodeConfig reads
	_ "image/png"
	"net/http"
	"slices"
	"strconv"

	"roomgate/agent"
	"roomgate/drivers"
)

const (
	// maxPicture bounds an upload.
	maxPicture = 4 << 20
	// maxPixels bounds what a viewer would have to unpack.
	maxPixels = 16 << 20
)

// snapshot answers with the last picture of a camera.
func snapshot(s *Server, c *call) error {
	q, err := c.query("device_type")
	if err != nil {
		return err
	}
	deviceType := drivers.TypeCamera
	if given := q.text("device_type"); given != "" {
		deviceType = given
	}
	return s.picture(c, deviceType, drivers.ActSnapshot)
}

// lastScreenshot answers with the last screenshot of a room display.
func lastScreenshot(s *Server, c *call) error {
	return s.picture(c, drivers.TypeDisplay, drivers.ActScreenshot)
}

func (s *Server) picture(c *call, deviceType, action string) error {
	if _, err := s.agent.Status(c.params[0], deviceType, ""); err != nil {
		return knownType(err, deviceType)
	}
	p, at, ok := s.agent.Picture(c.params[0], deviceType)
	if !ok {
		return &agent.Error{Code: agent.NotFound, Message: "there is no picture yet: give the " + deviceType + " the action " + action}
	}
	if p.ContentType != "image/png" && p.ContentType != "image/jpeg" { // a browser would run anything else
		return &agent.Error{Code: agent.NotFound, Message: "the last picture is neither JPEG nor PNG"}
	}
	c.w.Header().Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	return c.text(p.ContentType, p.Data)
}

// screenshot takes a picture of the room display from its page, which was
// asked for it.
func screenshot(s *Server, c *call) error {
	q, err := c.query("order")
	if err != nil {
		return err
	}
	order, err := strconv.ParseInt(q.text("order"), 10, 64)
	if err != nil {
		return invalid("order", "is missing or not a number: send the id of the screenshot order")
	}
	if err := s.expects(c.params[0], order); err != nil {
		return err
	}
	p, err := c.readPicture()
	if err != nil {
		return err
	}
	orders, err := s.agent.PageBeat(c.params[0], []drivers.PageDone{{ID: order, Picture: p}})
	if err != nil {
		return err
	}
	return c.orders(orders)
}

// expects refuses a picture that nobody asked for.
func (s *Server) expects(space string, order int64) error {
	open, err := s.agent.PageBeat(space, nil)
	if err != nil {
		return err
	}
	wanted := func(o drivers.PageOrder) bool { return o.ID == order && o.Action == drivers.ActScreenshot }
	if !slices.ContainsFunc(open, wanted) {
		return &agent.Error{Code: agent.NotFound, Field: "order", Message: "is not an open screenshot order: it was answered, or nobody waits any more"}
	}
	return nil
}

// readPicture reads a PNG or JPEG of a bounded size. What is in it counts, not
// what the caller calls it.
func (c *call) readPicture() (*drivers.Picture, error) {
	body, err := c.readBody(maxPicture, "image/png", "image/jpeg")
	if err != nil {
		return nil, err
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return nil, &agent.Error{Code: unsupportedType, Message: "the body is neither PNG nor JPEG"}
	}
	if size.Width <= 0 || size.Height <= 0 || size.Width > maxPixels/size.Height {
		return nil, &agent.Error{Code: tooLarge, Message: "the picture has too many pixels: send one of at most 16 megapixels"}
	}
	return &drivers.Picture{ContentType: "image/" + format, Data: bytes.Clone(body)}, nil
}
