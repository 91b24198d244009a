package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnjoined(t *testing.T) {
	t.Parallel()
	joined := []byte("proxy_set_header Host \"$host\\r\\nX-A: $a\";\nproxy_set_header X-A \"\";\nproxy_set_header X-A own;\nadd_header X-A b;\nproxy_set_header Proxy \"\";\n")
	separate := []byte("proxy_set_header Host $host;\nproxy_set_header X-A $a;")
	want := "proxy_set_header Host $host;\nproxy_set_header X-A $a;\nproxy_set_header X-A own;\nadd_header X-A b;\nproxy_set_header Proxy \"\";\n"
	if diff := cmp.Diff(want, string(unjoined(joined, separate))); diff != "" {
		t.Error(diff)
	}
}
