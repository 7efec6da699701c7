package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// madeTable is where a table or queue of the store is made, with its name in quotes.
var madeTable = regexp.MustCompile(`store\.New(?:Table|Queue)\[[^(]*\]\("([^"]+)"`)

// guardedTable is what guarded of api/secret_test.go says of a table, and storesOwn are those that the store keeps for itself.
var (
	guardedTable = regexp.MustCompile(`"([^"]+)": "`)
	storesOwn    = []string{"store", "log-cursors"}
)

// TestTables keeps the list of what the building stores whole: every table that
// any noun makes is in buckets, no two share a name, and tables.go shows it.
func TestTables(t *testing.T) {
	var made []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range madeTable.FindAllStringSubmatch(string(source), -1) {
			made = append(made, m[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, bucket := range buckets() {
		_, name, _ := strings.Cut(bucket, ":")
		listed = append(listed, name)
	}
	slices.Sort(made)
	slices.Sort(listed)
	for _, name := range made {
		if !slices.Contains(listed, name) {
			t.Errorf("a package makes the table %q and buckets does not have it: add its Buckets() in tables.go", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(made, name) {
			t.Errorf("buckets has %q, which no package makes", name)
		}
	}
	if once := slices.Compact(slices.Clone(made)); len(once) != len(made) {
		t.Errorf("two tables share a name: %q", made)
	}
	screen, err := os.ReadFile("tables.go")
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := os.ReadFile(filepath.Join("api", "secret_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(guarded), "\nvar guarded = ")
	said, _, _ = strings.Cut(said, "\n}")
	for _, m := range guardedTable.FindAllStringSubmatch(said, -1) {
		if !slices.Contains(listed, m[1]) && !slices.Contains(storesOwn, m[1]) {
			t.Errorf("api/secret_test.go says how secrets in %q are kept, which no package makes: remove it from guarded", m[1])
		}
	}
	for _, name := range listed {
		if !strings.Contains(string(screen), `"`+name+`"`) {
			t.Errorf("tables.go does not show %q and whose it is", name)
		}
		if !strings.Contains(string(guarded), `"`+name+`": "`) {
			t.Errorf("api/secret_test.go does not say how secrets in %q are kept: add it to guarded", name)
		}
	}
}
