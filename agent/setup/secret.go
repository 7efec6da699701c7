package setup

import (
	"strings"

	"go.yaml.in/yaml/v4"
)

// Credential is a secret that goes to a file of its own.
type Credential struct {
	Name  string // of the file, as "cloud" or "atlas-o3"
	Value string
	node  *yaml.Node // the mapping that names it
	key   string     // "password" or "token"
}

// secretKeys are those that have a sibling KEY_file. A test compares them with
// what the configuration and the drivers take as secrets.
var secretKeys = []string{"password", "token"}

// secrets finds every secret that stands in a tree, each with a file's name
// that tells whose it is.
func secrets(n *yaml.Node, owner string) (all []Credential) {
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			all = append(all, secrets(item, owner)...)
		}
	case yaml.MappingNode:
		if name := word(n, "id"); name != "" {
			owner = name
		} else if name := word(n, "name"); name != "" {
			owner = name
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i].Value, n.Content[i+1]
			if isSecret(key, value) {
				all = append(all, Credential{fileName(owner), value.Value, n, key})
				continue
			}
			below := owner
			if owner == "" || value.Kind == yaml.SequenceNode {
				below = key
			}
			all = append(all, secrets(value, below)...)
		}
	}
	return all
}

func isSecret(key string, value *yaml.Node) bool {
	for _, k := range secretKeys {
		if k == key && value.Kind == yaml.ScalarNode && !null(value) && value.Value != "" {
			return true
		}
	}
	return false
}

// fileName is an owner's name as a file's.
func fileName(owner string) string {
	var b strings.Builder
	for _, r := range owner {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s[:min(len(s), 80)]
	}
	return "secret"
}

// place is the node that holds the secret.
func (c Credential) place() *yaml.Node {
	_, v := get(c.node, c.key)
	return v
}

// moved puts the file's path where the secret stood.
func (c Credential) moved(path string) {
	for i := 0; i+1 < len(c.node.Content); i += 2 {
		if c.node.Content[i].Value == c.key {
			key, value := scalar(c.key+"_file"), scalar(path)
			key.Line, key.Column = c.node.Content[i].Line, c.node.Content[i].Column
			value.Line, value.Column = c.node.Content[i+1].Line, c.node.Content[i+1].Column
			c.node.Content[i], c.node.Content[i+1] = key, value
		}
	}
}

// HasSecrets says whether there is a password or a token in answers, or may be.
func HasSecrets(answers []byte) bool {
	n, err := tree(answers)
	return err != nil || len(secrets(n, "")) > 0
}

// Scrub returns answers without their secrets and comments, in which there may
// be secrets too. Answers that cannot be read are scrubbed whole.
func Scrub(answers []byte) []byte {
	n, err := tree(answers)
	if err != nil {
		return nil
	}
	for _, c := range secrets(n, "") {
		put(c.node, c.key, scalar("(moved)"))
	}
	uncomment(n)
	s, err := printed(n)
	if err != nil {
		return nil
	}
	return []byte(s)
}

func uncomment(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		uncomment(c)
	}
}
