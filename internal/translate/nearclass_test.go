package translate

import "testing"

func TestNearClass(t *testing.T) {
	t.Parallel()
	served := []string{"nginx", "internal-a"}
	for name, want := range map[string]string{
		"ngnix": "nginx", "nignx": "nginx", "nginxx": "nginx", "ngin": "nginx", "nginy": "nginx", "Nginx": "nginx", "internl-a": "internal-a",
		"nginx2": "", "nginx-b": "", "internal-b": "", "external-a": "", "traefik": "", "alb": "", "": "", "nginx-internal": "",
	} {
		if got := nearClass(name, served); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
