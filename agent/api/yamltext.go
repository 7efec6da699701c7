package api

import (
	"regexp"
	"slices"
	"strings"
)

// block is an entry of a YAML mapping in a file of ours, kept as it is written: it
// is shown to people.
type block struct {
	key  string
	head string // its first line
	text string // the lines below it, two columns to the left
}

var keyOf = regexp.MustCompile(`^("[^"]+"|[\w/][^\s:]*):(?: |$)`)

// blocks cuts a mapping into its entries. It is nil for what is no mapping in
// lines of its own.
func blocks(text string) (all []block) {
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		switch found := keyOf.FindStringSubmatch(bare); {
		case bare == "" || bare[0] == '#':
		case strings.HasPrefix(bare, "  ") && len(all) > 0:
			all[len(all)-1].text += line[2:]
		case found != nil:
			all = append(all, block{key: found[1], head: bare})
		default:
			return nil
		}
	}
	return all
}

// blocksText writes entries as a file has them.
func blocksText(all []block) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString(e.head + "\n" + indented(e.text))
	}
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + line)
	}
	return b.String()
}

func entry(all []block, key string) int {
	return slices.IndexFunc(all, func(b block) bool { return b.key == key })
}

// below is what is below keys; empty if there is nothing.
func below(all []block, keys ...string) string {
	i := entry(all, keys[0])
	switch {
	case i < 0:
		return ""
	case len(keys) == 1:
		return all[i].text
	}
	return below(blocks(all[i].text), keys[1:]...)
}

// put replaces what is below keys, which have to be there.
func put(all []block, text string, keys ...string) {
	i := entry(all, keys[0])
	if len(keys) > 1 {
		inner := blocks(all[i].text)
		put(inner, text, keys[1:]...)
		text = blocksText(inner)
	}
	all[i].text = text
}

// overlaid is a mapping with another one laid over it, entry by entry; what is null
// there goes. A value that is no mapping in lines of its own is replaced whole.
func overlaid(base, over string) string {
	out, all := blocks(base), blocks(over)
	switch {
	case over == "":
		return base
	case out == nil, all == nil:
		return over
	}
	for _, o := range all {
		i := entry(out, o.key)
		switch bare := o.key + ":"; {
		case i < 0:
			out = append(out, o)
		case o.head == bare+" null":
			out = slices.Delete(out, i, i+1)
		case o.head == bare && out[i].head == bare:
			out[i].text = overlaid(out[i].text, o.text)
		default:
			out[i] = o
		}
	}
	return blocksText(out)
}
