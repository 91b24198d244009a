package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApart(t *testing.T) {
	t.Parallel()
	joined := inheritables([]byte("proxy_set_header Host \"$host\\r\\nX-A: $a\";\nproxy_set_header X-A \"\";\nproxy_set_header X-A own;\nadd_header X-A b;\nproxy_set_header Proxy \"\";"))
	separate := inheritables([]byte("proxy_set_header Host $host;\nproxy_set_header X-A $a;"))
	var got []string
	for _, i := range apart(joined, separate) {
		got = append(got, i.text)
	}
	want := []string{"proxy_set_header Host $host;", "proxy_set_header X-A $a;", "proxy_set_header X-A own;", "add_header X-A b;", `proxy_set_header Proxy "";`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
