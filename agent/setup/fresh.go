package setup

import "slices"

// Fresh is the example configuration without what is only an example in it:
// its users, rooms and names. Every setting is still there, explained.
func Fresh(example []byte) ([]byte, error) {
	t := &text{lines: split(example)}
	for _, path := range [][]string{{"spaces"}, {"users"}, {"broker", "users"}, {"gateway", "name"}, {"gateway", "id"}} {
		root, err := tree([]byte(t.String()))
		if err != nil {
			return nil, err
		}
		key, value := get(at(root, path[:len(path)-1]...), path[len(path)-1])
		if key == nil {
			continue
		}
		end := t.end(key.Line-1, key.Column-1, value != nil && len(value.Content) > 0)
		t.lines = slices.Delete(t.lines, key.Line-1, end)
		if key.Column == 1 { // its comment goes before it when it comes again
			t.lines = slices.Insert(t.lines, key.Line-1, "#"+key.Value+":")
		}
	}
	return []byte(t.String()), nil
}
