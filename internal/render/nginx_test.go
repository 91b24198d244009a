package render_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/controller"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/templates"
)

// installs are the nginx of this machine, and that of the root file system in
// SLUICE_NGINX_ROOT, if set.
func installs(t *testing.T) []nginx.Install {
	t.Helper()
	var all []nginx.Install
	for _, root := range []string{"", os.Getenv("SLUICE_NGINX_ROOT")} {
		if root == "" && len(all) > 0 {
			continue
		}
		install, err := nginx.Inspect(t.Context(), nginx.Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, install)
	}
	return all
}

// state makes a state directory with the files that nginx -t reads.
func state(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-render-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	certificate, key := pair(t)
	files := map[string]string{"placeholder.crt": certificate, "placeholder.key": key}
	for _, name := range []string{"init", "init_worker", "balancer", "control", "client_hello"} {
		files["lua/sluice/entry/"+name+".lua"] = "return"
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	for _, name := range []string{"run", "temp", "trust"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pair makes a certificate and its key.
func pair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"a.test"}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

func environment(dir string, install nginx.Install) render.Environment {
	return render.Environment{
		HTTPPort: 8080, HTTPSPort: 8443, StateDir: dir, Lua: filepath.Join(dir, "lua"),
		LuaPath: install.LuaPath, LuaCPath: install.LuaCPath, Modules: install.Modules, Workers: 2,
		Capabilities: controller.Capabilities(install.Capabilities), StreamModule: install.Capabilities.StreamModule(),
		HeadersMoreModule: install.Capabilities.HeadersMore, ModSecurityModule: install.Capabilities.ModSecurity, CoreRules: install.Capabilities.CoreRules,
		BrotliModule: install.Capabilities.Brotli, GeoIPModule: install.Capabilities.GeoIP,
	}
}

// everything uses all directives of the core templates.
func everything(t *testing.T) model.Static {
	t.Helper()
	certificate, _ := pair(t)
	path := func(modifier model.Modifier, path string) *model.Location {
		return &model.Location{
			Modifier: modifier, Path: path,
			Rule:  model.Rule{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}},
			Proxy: &model.Proxy{Backend: "shop/web/80", Service: model.ServicePort{Namespace: "shop", Name: "web", Port: "80"}},
		}
	}
	rewritten := path(model.Pattern, `^/r(/|$)(?<p_rest>.*)"\{x;}#`)
	rewritten.Rewrite = &model.Rewrite{Pattern: rewritten.Path, Target: "/$p_rest/$1?a=$arg_b"}
	rewritten.RedirectToHTTPS = &model.Redirect{Code: 308, Port: 8443, KeepTrailingSlash: true}
	verified := path(model.Equal, "/v")
	balanced := path(model.Equal, "/b")
	balanced.Proxy.Backend = "shop/web/80~0a1b"
	verified.Proxy.Transport = model.Transport{TLS: true, Verify: true, Name: "a.test", TrustedCA: certificate, VerifyDepth: 2}
	guarded := path(model.PrefixFirst, "/g/")
	guarded.Blocks = []model.Block{{Name: "allow-list", Data: struct{ Networks []string }{[]string{"10.0.0.0/8", "2001:db8::/32"}}}}
	literal := path(model.Prefix, `/$x "y" \z {;} # 'q' käse`)
	gone := path(model.Prefix, "/")
	gone.Proxy, gone.Return = nil, &model.Return{Code: 503}
	values, _ := settings.Read(nil)
	return model.Static{Blocks: values.Blocks(), Servers: []*model.Server{
		{Locations: []*model.Location{path(model.Prefix, "/")}},
		{Host: "*.wild.test", Locations: []*model.Location{path(model.PrefixFirst, "/")}, Internal: []*model.Internal{model.MissOf(path(model.Prefix, "/"))}},
		{Host: "shop.test", RedirectToHTTPS: &model.Redirect{Code: 301}, Locations: []*model.Location{balanced, verified, guarded, literal, gone, rewritten}},
		{Host: strings.Repeat("a123456789.", 22) + "x", Locations: []*model.Location{path(model.PrefixFirst, "/")}},
	}}
}

// nginx accepts everything that Render prints, with all kinds of settings.
func TestNginxTakesTheFile(t *testing.T) {
	t.Parallel()
	loaded, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	base := everything(t)
	other, _ := settings.Read(nil)
	other.HSTS.Enabled, other.Log.DisableAccess, other.TLS.RejectHandshake, other.HTTP2.Enabled = false, true, true, false
	other.Keepalive.Connections, other.TLS.Ciphers, other.TLS.SessionCache, other.Headers.GenerateRequestID = 0, "", false, false
	changed := base
	changed.Blocks = other.Blocks()
	for _, install := range installs(t) {
		dir := state(t)
		e := environment(dir, install)
		bootstrap, err := loaded.Bootstrap(e)
		if err != nil {
			t.Fatal(err)
		}
		testFile(t, install, dir, "bootstrap", bootstrap)
		for name, static := range map[string]model.Static{"everything": base, "other settings": changed, "nothing": {}} {
			file, problems := loaded.Render(static, e, nil)
			if len(problems) > 0 {
				t.Errorf("nginx %s, %s: %v", install.Version, name, problems)
			}
			testFile(t, install, dir, name, file)
		}
		e.Metrics.Requests = true
		for name, static := range map[string]model.Static{"everything, counted": base, "nothing, counted": {}} {
			file, _ := loaded.Render(static, e, nil)
			testFile(t, install, dir, name, file)
		}
	}
}

func testFile(t *testing.T, install nginx.Install, dir, name string, file *render.File) {
	t.Helper()
	for _, trust := range file.Trust() {
		write(t, trust.Path, trust.PEM)
	}
	conf := filepath.Join(dir, "nginx.conf")
	write(t, conf, string(file.Bytes()))
	argv := install.Command("-t", "-e", "stderr", "-p", dir, "-c", conf)
	output, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil || strings.Contains(string(output), "[warn]") {
		t.Errorf("nginx %s, %s: %v\n%s\n%s", install.Version, name, err, output, numbered(file.Bytes()))
	}
}

func numbered(text []byte) string {
	var out strings.Builder
	for i, line := range strings.Split(string(text), "\n") {
		fmt.Fprintf(&out, "%4d %s\n", i+1, line)
	}
	return out.String()
}
