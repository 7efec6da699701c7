package api

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"time"

	"roomgate/agent/problem"
	"roomgate/drivers"
)

const (
	// maxPicture bounds an upload.
	maxPicture = 4 << 20
	// maxRepacked bounds a picture as it is kept: it is packed quickly, and
	// somewhat larger than it came.
	maxRepacked = 2 * maxPicture
	// pictureWait is how long a picture waits for its turn.
	pictureWait = 5 * time.Second
	// jpegQuality is that of JPEG pictures as they are kept.
	jpegQuality = 90
)

// snapshot answers with the last picture of a camera.
func snapshot(s *Server, c *call) error {
	if c.v2 {
		return s.picture(c, c.params[1], drivers.ActSnapshot)
	}
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
	d, err := s.agent.Site.Device(c.params[0], deviceType)
	if err != nil {
		return knownType(err, deviceType)
	}
	p, at, ok := d.Picture()
	if !ok {
		return &problem.Error{Code: problem.NotFound, Message: "there is no picture yet: give the " + deviceType + " the action " + action}
	}
	if p.ContentType != "image/png" && p.ContentType != "image/jpeg" { // a browser would run anything else
		return &problem.Error{Code: problem.NotFound, Message: "the last picture is neither JPEG nor PNG"}
	}
	c.w.Header().Set("Last-Modified", at.UTC().Format(http.TimeFormat))
	return c.text(p.ContentType, p.Data)
}

// screenshot takes a picture of the room display from its page, which was
// asked for it or, without an order, sends one by itself.
func screenshot(s *Server, c *call) error {
	q, err := c.query("order")
	if err != nil {
		return err
	}
	if q.text("order") == "" {
		return s.keepScreenshot(c)
	}
	order, err := strconv.ParseInt(q.text("order"), 10, 64)
	if err != nil {
		return invalid("order", "is not a number: send the id of the screenshot order, or leave it out")
	}
	if err := s.expects(c.params[0], order); err != nil {
		return err
	}
	p, err := s.readPicture(c)
	if err != nil {
		return err
	}
	orders, err := s.agent.Site.PageBeat(c.params[0], []drivers.PageDone{{ID: order, Picture: p}})
	if err != nil {
		return err
	}
	return c.orders(orders)
}

// keepScreenshot takes a picture that nobody asked for, as long as the space
// has a display.
func (s *Server) keepScreenshot(c *call) error {
	d, err := s.agent.Site.Device(c.params[0], drivers.TypeDisplay)
	if err != nil {
		return err
	}
	p, err := s.readPicture(c)
	if err != nil {
		return err
	}
	if err := d.KeepPicture(p); err != nil {
		return err
	}
	return c.orders(nil)
}

// expects refuses a picture that nobody asked for.
func (s *Server) expects(space string, order int64) error {
	open, err := s.agent.Site.PageBeat(space, nil)
	if err != nil {
		return err
	}
	wanted := func(o drivers.PageCommand) bool { return o.ID == order && o.Action == drivers.ActScreenshot }
	if !slices.ContainsFunc(open, wanted) {
		return &problem.Error{Code: problem.NotFound, Field: "order", Message: "is not an open screenshot order: it was answered, or nobody waits any more"}
	}
	return nil
}

// readPicture reads a PNG or JPEG of a bounded size. What is in it counts, not
// what the caller calls it. It is unpacked and packed again, so that nothing is
// kept but the picture: nothing hidden in it, before or behind it, that a viewer
// might take for something else. That is done for one at a time, as it takes
// the memory of a whole screen, and who sends many waits for others.
func (s *Server) readPicture(c *call) (*drivers.Picture, error) {
	body, err := c.readBody(maxPicture, "image/png", "image/jpeg")
	if err != nil {
		return nil, err
	}
	size, err := drivers.MeasurePicture(body)
	switch {
	case errors.Is(err, drivers.ErrPictureLarge):
		return nil, &problem.Error{Code: tooLarge, Message: "the picture " + err.Error()}
	case err != nil:
		return nil, &problem.Error{Code: unsupportedType, Message: "the body is neither PNG nor JPEG"}
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), pictureWait)
	defer cancel()
	if !s.pictures.Take(ctx, holder(c)) {
		c.w.Header().Set("Retry-After", "1")
		return nil, &problem.Error{Code: problem.Unavailable, Message: "other pictures are just being read: try again in a second"}
	}
	defer s.pictures.Done()
	if err := c.again(); err != nil {
		return nil, err
	}
	return repack(body, size.ContentType)
}

// repack unpacks a picture that was measured and packs it again, without what is
// not a picture.
func repack(body []byte, contentType string) (*drivers.Picture, error) {
	picture, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, &problem.Error{Code: unsupportedType, Message: "the body is a picture that is damaged"}
	}
	var out packed
	if contentType == "image/png" {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture)
	} else {
		err = jpeg.Encode(&out, picture, &jpeg.Options{Quality: jpegQuality})
	}
	if err != nil {
		return nil, err
	}
	return &drivers.Picture{ContentType: contentType, Data: out}, nil
}

// packed is a picture as it is kept, of a bounded size.
type packed []byte

// Write refuses what is too much.
func (p *packed) Write(b []byte) (int, error) {
	if len(*p)+len(b) > maxRepacked {
		return 0, &problem.Error{Code: tooLarge, Message: "the picture is larger than " + strconv.Itoa(maxRepacked>>20) + " MiB once packed: send one with less in it"}
	}
	*p = append(*p, b...)
	return len(b), nil
}
