package main

import (
	"testing"
)

// TestCalled: what the process is called by, or what its first argument is,
// decides which program it is.
func TestCalled(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"/usr/bin/sluice"}, "sluice"},
		{[]string{"/usr/bin/sluice", "run", "--http-port=80"}, "sluice"},
		{[]string{"/nginx-ingress-controller", "--publish-service=a/b"}, "nginx-ingress-controller"},
		{[]string{"nginx-ingress-controller"}, "nginx-ingress-controller"},
		{[]string{"/usr/bin/sluice", "/nginx-ingress-controller", "--publish-service=a/b"}, "nginx-ingress-controller"},
		{[]string{"/usr/bin/sluice", "/usr/bin/nginx-ingress-controller"}, "nginx-ingress-controller"},
		{[]string{"/usr/bin/sluice", "nginx-ingress-controller"}, "sluice"},
		{[]string{"/wait-shutdown"}, "wait-shutdown"},
		{[]string{"/usr/bin/sluice", "/wait-shutdown"}, "wait-shutdown"},
		{[]string{"/dbg", "backends", "all"}, "dbg"},
		{[]string{}, "sluice"},
	} {
		if got := called(test.args).Name(); got != test.want {
			t.Errorf("%q: %s, want %s", test.args, got, test.want)
		}
	}
}
