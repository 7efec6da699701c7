package api

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// TestDescriptionsAreNotCut: in a flow map of YAML a comma ends a text that is not in
// quotes, and the rest becomes a key without a value.
func TestDescriptionsAreNotCut(t *testing.T) {
	for name, text := range map[string][]byte{"openapi.yaml": documentOf(false).yaml, "V2.0": []byte(openapi2YAML()), "asyncapi.yaml": asyncapiYAML,
		"a cut one": []byte("a: {description: so long, and no longer}")} {
		var root yaml.Node
		if err := yaml.Load(text, &root); err != nil {
			t.Fatal(err)
		}
		cut := cutTexts(&root)
		if name == "a cut one" {
			if len(cut) != 1 {
				t.Errorf("a text that is cut is not found: %q", cut)
			}
			continue
		}
		for _, rest := range cut {
			t.Errorf("%s: the text that ends with %q is cut at a comma: put it in quotes", name, rest)
		}
	}
}

// cutTexts are the keys of flow maps that have no value at all.
func cutTexts(n *yaml.Node) (found []string) {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if v := n.Content[i+1]; v.Tag == "!!null" && v.Value == "" && n.Style&yaml.FlowStyle != 0 {
				found = append(found, n.Content[i].Value)
			}
		}
	}
	for _, below := range n.Content {
		found = append(found, cutTexts(below)...)
	}
	return found
}
