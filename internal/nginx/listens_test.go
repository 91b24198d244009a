package nginx

import (
	"strings"
	"testing"
)

// TestListensAreMovedWhereverTheyBegin: every address becomes a socket, wherever in a line its directive begins, and
// nothing else changes.
func TestListensAreMovedWhereverTheyBegin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"server {\n\tlisten 80 reuseport;\n}":                           "server {\n\tlisten \"unix:/s/0\";\n}",
		"server { listen 9000; listen 9001 udp; return 1; }":            "server { listen \"unix:/s/0\"; listen \"unix:/s/1\"; return 1; }",
		"server {\n listen 80 ssl; listen [::]:80\n ssl ipv6only=on; }": "server {\n listen \"unix:/s/0\" ssl; listen \"unix:/s/1\"\n ssl; }",
		"server { listen \"unix:/a b/c.sock\" proxy_protocol; }":        "server { listen \"unix:/s/0\" proxy_protocol; }",
		"server { return 200 \"\nlisten 80;\n\"; }":                     "server { return 200 \"\nlisten 80;\n\"; }",
		"map $a $b {\nlisten 80;\n}":                                    "map $a $b {\nlisten 80;\n}",
		"# listen 80;\n":                                                "# listen 80;\n",
	} {
		if got := string(listeningApart([]byte(text), "/s")); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestSocketsOfSmallFilesFit: in the longest state directory, the sockets of a small file are not too
// long.
func TestSocketsOfSmallFilesFit(t *testing.T) {
	t.Parallel()
	longest := longestSocket - len("/"+socketDir+"/"+longestName)
	folder := strings.Replace(apartDir, "*", "4294967295", 1)
	if path := strings.Repeat("x", longest) + "/" + folder + "/999"; len(path) > longestSocket {
		t.Errorf("%d bytes, want at most %d", len(path), longestSocket)
	}
}
