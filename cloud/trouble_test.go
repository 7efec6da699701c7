package cloud

import (
	"strings"
	"testing"
)

// TestAMisconfiguredLoginNamesItsFiles: the password is not the only file that the link reads.
func TestAMisconfiguredLoginNamesItsFiles(t *testing.T) {
	t.Parallel()
	fix := Trouble{Cause: CauseMisconfigured}.Fix()
	for _, key := range []string{"cloud.password_file", "cloud.client_certificate", "cloud.client_key"} {
		if !strings.Contains(fix, key) {
			t.Errorf("%q does not name %s", fix, key)
		}
	}
}
