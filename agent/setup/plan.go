package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"roomgate/agent/atomicfile"
	"roomgate/agent/config"
	"roomgate/drivers"
)

// Options are what answers are laid over.
type Options struct {
	// File is the configuration; Fresh is what it begins as if it is not there
	// (see Fresh).
	File  string
	Fresh []byte
	// FromScratch lays the answers over Fresh, also if there is a File.
	FromScratch bool
	// Credentials is the folder of the files that hold secrets. Reference is
	// how the configuration names a file there; nil: by its path.
	Credentials string
	Reference   func(file string) string
	Kinds       []drivers.Kind
	// Folder is where answers are given: a data folder of theirs begins there; empty: it has to be whole.
	Folder string
	// Timezone is that of spaces whose answers name none; empty: UTC.
	Timezone string
	// Base is what errors call the text that answers were laid over (see From); empty: there is none.
	Base string
	// Judge finds what of a valid configuration cannot work, by its keys; nil: nobody looks.
	Judge func(c *config.Config) []config.Problem
}

// Plan is what will be written, checked and not yet done.
type Plan struct {
	File        string
	Before      []byte // what File has now, nil: it is not there
	After       []byte
	Credentials []Credential // files that are written, of which Name is the whole path
	Config      *config.Config
}

// Changes says whether there is anything to write.
func (p *Plan) Changes() bool { return !bytes.Equal(p.Before, p.After) || len(p.Credentials) > 0 }

// Prepare lays answers over the configuration and checks what comes of it.
// name is what errors call the answers: they are *config.Errors, with the
// places in the answers where those are to blame. Nothing is written.
func Prepare(name string, answers []byte, o Options) (*Plan, error) {
	over, err := read(name, answers, o.Kinds)
	if err != nil {
		return nil, err
	}
	return prepare(name, over, o)
}

func prepare(name string, over *yaml.Node, o Options) (p *Plan, err error) {
	p = &Plan{File: o.File}
	if p.Before, err = atomicfile.Read(o.File, os.O_RDONLY, maxAnswers); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	base := p.Before
	if base == nil || o.FromScratch {
		base = o.Fresh
	}
	before, err := tree(base)
	if err != nil {
		return nil, notYAML(o.File, base, o.Kinds, err)
	}
	complete(over, before, o.Kinds, o.Timezone)
	if err := twins(name, over, o.Base); err != nil {
		return nil, err
	}
	if err := wholeData(name, over, before, o.Folder); err != nil {
		return nil, err
	}
	if err := p.hide(name, over, o); err != nil {
		return nil, err
	}
	completed, err := printed(over)
	if err != nil {
		return nil, err
	}
	if p.After, err = Lay(base, []byte(completed)); err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	p.Config, err = config.Parse(o.File, p.After, o.Kinds)
	var problems *config.Errors
	if errors.As(err, &problems) {
		return nil, blame(name, over, p, base, problems)
	}
	if err != nil {
		return nil, err
	}
	if o.Judge != nil {
		if found := o.Judge(p.Config); len(found) > 0 {
			return nil, blame(name, over, p, base, &config.Errors{Problems: found})
		}
	}
	return p, p.listed(o)
}

// wholeData makes the data folder of answers a whole path, for the gateway may be started anywhere. A
// configuration that names none goes without the usual one.
func wholeData(name string, over, before *yaml.Node, folder string) error {
	dir := word(over, "data")
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		if folder == "" {
			return wrong(name, at(over, "data"), fmt.Sprintf("data is %q: want a whole path, as %s", dir, config.Default().Data))
		}
		dir = filepath.Join(folder, dir)
		at(over, "data").Value = dir
	}
	if filepath.Clean(dir) == config.Default().Data && word(before, "data") == "" {
		drop(over, "data")
	}
	return nil
}

// blame gives problems the places of the answers that made them. A problem that stood in
// the file before keeps its place there.
func blame(name string, over *yaml.Node, p *Plan, base []byte, problems *config.Errors) error {
	after, err := tree(p.After)
	if err != nil {
		return problems
	}
	problems.Problems = slices.DeleteFunc(problems.Problems, func(one config.Problem) bool { return followsDriver(one, problems.Problems) })
	fresh := !bytes.Equal(base, p.Before)
	for i := range problems.Problems {
		problem := &problems.Problems[i]
		line, column, found := origin(over, after, problem.Key, strings.HasPrefix(problem.Message, "unknown key"))
		if found || fresh {
			problem.File, problem.Line, problem.Column = name, max(line, 1), max(column, 1)
		}
	}
	return problems
}

// followsDriver says whether something of a device is only missing because its driver is wrong:
// answers leave out what comes of the driver.
func followsDriver(one config.Problem, all []config.Problem) bool {
	dot := max(strings.LastIndexByte(one.Key, '.'), 0)
	device, name := one.Key[:dot], strings.TrimPrefix(one.Key[dot:], ".")
	return (name == "id" || name == "type") && strings.Contains(one.Message, " is missing") &&
		slices.ContainsFunc(all, func(p config.Problem) bool { return p.Key == device+".driver" })
}

// origin follows a key of the whole configuration in the answers, and returns
// the last place on the way that somebody wrote: the value's, or of an unknown
// key its own. It is found if the key's first part is there.
func origin(over, after *yaml.Node, key string, unknown bool) (line, column int, found bool) {
	path := ""
	for name := range strings.FieldsFuncSeq(key, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		was := after
		var keyed *yaml.Node
		if _, after = step(after, name); after == nil {
			return line, column, found
		}
		if was.Kind == yaml.SequenceNode {
			i := -1
			if over.Kind == yaml.SequenceNode {
				i = match(over, after, path)
			}
			if i < 0 {
				return line, column, false
			}
			over = over.Content[i]
		} else {
			path = below(path, name)
			if keyed, over = get(over, name); over == nil {
				return line, column, found
			}
			found = true
		}
		if keyed != nil && keyed.Line > 0 && (unknown || over.Kind != yaml.ScalarNode || null(over)) {
			line, column = keyed.Line, keyed.Column
		} else if over.Line > 0 {
			line, column = over.Line, over.Column
		}
	}
	return line, column, found
}

func (o Options) reference(path string) string {
	if o.Reference == nil {
		return path
	}
	return o.Reference(filepath.Base(path))
}

// hide moves the secrets of answers to files. A file that holds another secret
// stays as it is, for the configuration before may need it: a free name is
// taken.
func (p *Plan) hide(name string, over *yaml.Node, o Options) error {
	taken := map[string]string{}
	for _, c := range secrets(over, "") {
		if strings.ContainsAny(c.Value, "\r\n") {
			return wrong(name, c.place(), c.key+" of "+c.Name+" has more than one line: want the secret in one")
		}
		if word(c.node, c.key+"_file") != "" {
			return wrong(name, c.place(), c.key+" and "+c.key+"_file are both there: keep one")
		}
		path, there, err := free(filepath.Join(o.Credentials, c.Name), c.Value, taken)
		if err != nil {
			return err
		}
		c.moved(o.reference(path))
		if _, twice := taken[path]; !there && !twice {
			p.Credentials = append(p.Credentials, Credential{Name: path, Value: c.Value})
		}
		taken[path] = c.Value
	}
	return nil
}

// free finds the first of path, path-2, ... that is not there or holds the
// secret already.
func free(path, secret string, taken map[string]string) (_ string, there bool, _ error) {
	for i := 1; i < 1000; i++ {
		try := path
		if i > 1 {
			try = fmt.Sprintf("%s-%d", path, i)
		}
		if other, ok := taken[try]; ok {
			if other == secret {
				return try, false, nil
			}
			continue
		}
		held, err := atomicfile.Read(try, os.O_RDONLY, maxAnswers)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return try, false, nil
		case err != nil:
			return "", false, fmt.Errorf("read credential: %w", err)
		case strings.TrimRight(string(held), "\n") == secret:
			return try, true, nil
		}
	}
	return "", false, fmt.Errorf("there are too many files as %s: remove those that no configuration names", path)
}
