package e2e

import (
	"net/http"
	"testing"
)

// TestOneHostOnePathOneEndpoint is the whole way: an Ingress in, a served path
// out; edited, it is served anew; broken, it goes on as it was.
func TestOneHostOnePathOneEndpoint(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"ingress.yaml": ingress("shop", "shop.example", []string{"/cart Prefix web"}),
		})
		s.waitBackend("http://shop.example/cart", "web")
		s.waitBackend("http://shop.example/cart/1", "web")
		s.waitStatus("http://shop.example/cartoon", http.StatusNotFound)
		s.waitStatus("http://other.example/cart", http.StatusNotFound)

		s.write("ingress.yaml", ingress("shop", "shop.example", []string{"/basket Prefix web"}))
		s.waitBackend("http://shop.example/basket", "web")
		s.waitStatus("http://shop.example/cart", http.StatusNotFound)

		eventually(t, "the second reload to be confirmed", func() bool { return s.reloads() == 2 })
		before := s.reloads()
		s.write("ingress.yaml", "kind: Ingress\napiVersion: networking.k8s.io/v1\nspec: [\n")
		s.waitLine("ingress.yaml")
		s.waitBackend("http://shop.example/basket", "web")
		s.noReloadSince(before, "a broken file")
	})
}
