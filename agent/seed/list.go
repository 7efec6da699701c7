package seed

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"roomgate/agent/config"
	"roomgate/agent/setup"
)

// Columns are those of a list of gateways, in the order of their explanation.
// A list has those that it needs, in any order.
func Columns() []string {
	return []string{
		"gateway_id", "gateway_name", "cloud_url", "cloud_username", "cloud_password",
		"room", "timezone", "capacity", "floor",
		"lock_relay", "lock_active_low", "lock_sense", "lock_contact", "light_channel", "fan_channel", "fan_tach",
		"o3_address", "o3_password", "camera_url", "camera_username", "camera_password", "camera_device", "display",
	}
}

// Seed is the seed of one gateway.
type Seed struct {
	Gateway string
	Data    []byte
}

// The bounds of a list.
const (
	maxList = 8 << 20 // bytes
	maxRows = 20_000
)

// List makes a seed for each gateway of a list, a room to a row: a row without
// gateway_id is another room of the gateway above. The base holds for all
// of them. All mistakes are named with line and column, as *config.Errors, and
// with one there is no seed.
func List(name string, list io.Reader, base []byte, o setup.Options) ([]Seed, error) {
	l := &lister{name: name, base: base, options: o, ids: map[string]int{}, columns: map[[2]int]string{}}
	if err := l.read(list); err != nil {
		return nil, err
	}
	l.close()
	if len(l.problems) == 0 && len(l.seeds) == 0 {
		l.wrong(1, 1, "has no gateways: want a line for each, with gateway_id")
	}
	if len(l.problems) > 0 {
		slices.SortStableFunc(l.problems, func(a, b config.Problem) int { return a.Line - b.Line })
		return nil, &config.Errors{Problems: l.problems}
	}
	return l.seeds, nil
}

// lister reads a list row by row.
type lister struct {
	name    string
	base    []byte
	options setup.Options

	header   []string
	ids      map[string]int    // gateways with their lines
	columns  map[[2]int]string // of cells, by line and column
	rooms    map[string]int    // of the open gateway, with their lines
	wired    map[string]int    // lines, channels and cameras of the open gateway, too
	open     *setup.Answers    // of the gateway whose rows are read
	id       setup.Cell        // its id
	seeds    []Seed
	problems []config.Problem
}

func (l *lister) wrong(line, column int, message string) {
	l.problems = append(l.problems, config.Problem{File: l.name, Line: line, Column: column, Message: message})
}

func (l *lister) read(list io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(list, maxList+1))
	if err != nil {
		return fmt.Errorf("read list: %w", err)
	}
	if len(data) > maxList {
		l.wrong(1, 1, fmt.Sprintf("is larger than %d bytes: split it", maxList))
		return nil
	}
	if line, column := config.Garbled(data); line > 0 {
		l.wrong(line, column, "is not UTF-8 here: save the list as CSV UTF-8")
		return nil
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comma = comma(data)
	r.Comment = '#'
	r.TrimLeadingSpace = true
	for rows := 0; ; rows++ {
		fields, err := r.Read()
		var parse *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, csv.ErrFieldCount):
			line, column := r.FieldPos(0)
			l.wrong(line, column, fmt.Sprintf("want %d fields, as the first line has, not %d", len(l.header), len(fields)))
			continue
		case errors.As(err, &parse):
			l.wrong(parse.Line, parse.Column, "not a row: "+parse.Err.Error())
			return nil
		case err != nil:
			return err
		case rows > maxRows:
			l.wrong(1, 1, fmt.Sprintf("has more than %d rows: split it", maxRows))
			return nil
		}
		cells := make([]setup.Cell, len(fields))
		for i, f := range fields {
			line, column := r.FieldPos(i)
			cells[i] = setup.Cell{Text: strings.TrimSpace(f), Line: line, Column: column}
		}
		if l.header == nil {
			l.head(cells)
			if len(l.problems) > 0 {
				return nil
			}
			continue
		}
		l.row(cells)
	}
}

// comma is what separates the columns: some countries' spreadsheets write
// semicolons.
func comma(data []byte) rune {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	if bytes.Count(first, []byte(";")) > bytes.Count(first, []byte(",")) {
		return ';'
	}
	return ','
}

func (l *lister) head(cells []setup.Cell) {
	for _, c := range cells {
		switch {
		case !slices.Contains(Columns(), c.Text):
			l.wrong(c.Line, c.Column, fmt.Sprintf("%q is no column: want some of %s", c.Text, strings.Join(Columns(), ", ")))
		case slices.Contains(l.header, c.Text):
			l.wrong(c.Line, c.Column, fmt.Sprintf("column %s is there twice", c.Text))
		}
		l.header = append(l.header, c.Text)
	}
	if !slices.Contains(l.header, "gateway_id") {
		l.wrong(1, 1, "has no column gateway_id")
	}
}

func (l *lister) row(cells []setup.Cell) {
	of := map[string]setup.Cell{}
	for i, c := range cells {
		of[l.header[i]] = c
		l.columns[[2]int{c.Line, c.Column}] = l.header[i]
	}
	id := of["gateway_id"]
	switch before, twice := l.ids[id.Text]; {
	case id.Text == "" && l.open == nil:
		l.wrong(id.Line, id.Column, "gateway_id is empty, and there is no gateway above")
		return
	case id.Text != "" && twice:
		l.wrong(id.Line, id.Column, fmt.Sprintf("gateway_id %s is already in line %d: leave it empty for another room of the gateway above", id.Text, before))
		return
	case id.Text != "":
		l.close()
		l.ids[id.Text], l.id, l.open = id.Line, id, setup.NewAnswers()
		l.rooms, l.wired = map[string]int{}, map[string]int{}
	}
	for _, k := range [][2]string{{"gateway_id", "gateway.id"}, {"gateway_name", "gateway.name"}, {"cloud_url", "cloud.url"},
		{"cloud_username", "cloud.username"}, {"cloud_password", "cloud.password"}} {
		l.open.SetCell(k[1], of[k[0]])
	}
	l.room(of)
}

// close checks the gateway whose rows end.
func (l *lister) close() {
	if l.open == nil {
		return
	}
	a := l.open
	l.open = nil
	if err := a.From(l.base); err != nil {
		l.wrong(l.id.Line, l.id.Column, "the answers for all gateways: "+err.Error())
		return
	}
	data, err := a.YAML() // before it is completed, which the gateway does itself
	if err == nil {
		_, err = a.Prepare(l.name, l.options)
	}
	var problems *config.Errors
	switch {
	case errors.As(err, &problems):
		for _, p := range problems.Problems {
			if p.Line <= 1 { // of the base, or missing
				p.Line, p.Column = l.id.Line, l.id.Column
			}
			if column := l.columns[[2]int{p.Line, p.Column}]; column != "" {
				p.Message = column + ": " + p.Message
			}
			l.problems = append(l.problems, p)
		}
	case err != nil:
		l.wrong(l.id.Line, l.id.Column, err.Error())
	default:
		l.seeds = append(l.seeds, Seed{l.id.Text, data})
	}
}
