package e2e

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"sluice/test/kit"
)

// hasModule reports whether the nginx of a root has a module.
func hasModule(root, file string) bool {
	_, err := os.Stat(filepath.Join("/", root, "usr/lib/nginx/modules", file))
	return err == nil
}

// TestBrotli: a client that knows brotli gets answers that it can read. Where the module is
// missing, answers stay plain and the Problem names the package.
func TestBrotli(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("enable-brotli: 'true'", "brotli-types: '*'", "use-gzip: 'true'", "gzip-types: '*'", "gzip-min-length: '1'"),
			"a.yaml":        ingress("a", "shop.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://shop.example/", "web")
		want := "br"
		if !hasModule(root, "ngx_http_brotli_filter_module.so") {
			s.waitLine("install libnginx-mod-http-brotli-filter")
			want = "gzip"
		}
		a, err := s.ask(http.MethodGet, "http://shop.example/"+strings.Repeat("a", 500), http.Header{"Accept-Encoding": {"gzip, br"}})
		if err != nil || a.status != http.StatusOK || a.header.Get("Content-Encoding") != want {
			t.Fatalf("status %d, headers %v, error %v", a.status, a.header, err)
		}
		if want != "br" {
			return
		}
		text, err := io.ReadAll(brotli.NewReader(strings.NewReader(a.body)))
		if err != nil || !bytes.Contains(text, []byte(strings.Repeat("a", 500))) {
			t.Errorf("the client reads %q, %v", text, err)
		}
	})
}

// countries writes a database of the edition GeoLite2-City that knows one network.
func countries(t *testing.T, file, network, code string) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "GeoLite2-City", Description: map[string]string{"en": "a test"}, IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, of, err := net.ParseCIDR(network)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Insert(of, mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(code)}, "city": mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String("Town of " + code)}}}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := tree.WriteTo(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGeoIP: nginx looks up clients, also those behind a proxy that is believed. A new file
// counts within a moment; one that is not valid changes nothing.
func TestGeoIP(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web, databases := backend(t, "web"), t.TempDir()
		file := filepath.Join(databases, "GeoLite2-City.mmdb")
		countries(t, file, "192.0.2.0/24", "NZ")
		s := prepare(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"settings.yaml": settings("use-geoip2: 'true'", "use-forwarded-headers: 'true'", `log-format-upstream: 'from $geoip2_city_country_code by $geoip2_asn.'`,
				`location-snippet: 'add_header X-Country "$geoip2_city_country_code" always; add_header X-City "$geoip2_city" always;'`),
			"a.yaml": ingress("a", "shop.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config", "--geoip-dir", databases)
		s.launch()
		if !hasModule(root, "ngx_http_geoip2_module.so") {
			s.waitLine("install libnginx-mod-http-geoip2")
			s.waitUnready("geoip2_city") // a snippet that may keep countries out cannot
			return
		}
		s.waitReady()
		s.waitBackend("http://shop.example/", "web")
		country := func(client string) string {
			a, err := s.ask(http.MethodGet, "http://shop.example/", http.Header{"X-Forwarded-For": {client}})
			if err != nil {
				return err.Error()
			}
			return a.header.Get("X-Country") + "/" + a.header.Get("X-City")
		}
		if got := country("192.0.2.7"); got != "NZ/Town of NZ" {
			t.Fatalf("the client is in %q", got)
		}
		if got := country("198.51.100.7"); got != "/" {
			t.Errorf("an unknown client is in %q", got)
		}
		s.waitLine("from NZ by .")

		before := s.reloads()
		countries(t, file, "198.51.100.0/24", "AQ")
		kit.Await(t, "the new database", func() bool {
			return country("198.51.100.7") == "AQ/Town of AQ" && s.reloads() == before+1
		})
		if err := os.WriteFile(file, []byte("no database"), 0o644); err != nil {
			t.Fatal(err)
		}
		s.waitLine("the last good one stays in use")
		s.write("b.yaml", ingress("b", "other.example", []string{"/ Prefix web"}))
		s.waitBackend("http://other.example/", "web")
		kit.Await(t, "the reload for the Ingress alone", func() bool { return s.reloads() == before+2 })
		if got := country("198.51.100.7"); got != "AQ/Town of AQ" {
			t.Errorf("with a bad file the client is in %q", got)
		}
	})
}
