package translate

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// pair is a certificate with its key, in PEM.
type pair struct{ crt, key []byte }

// issue makes a certificate for names, the first of which is the common name.
func issue(t *testing.T, names ...string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return issueWith(t, key, names[0], names...)
}

func issueWith(t *testing.T, key crypto.Signer, commonName string, names ...string) pair {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: commonName}, DNSNames: names, NotAfter: time.Unix(1, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})}
}

// secret writes a Secret "namespace/name" as YAML.
func secret(name string, p pair) string {
	namespace, name, _ := strings.Cut(name, "/")
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: %s, name: %s}\ndata: {tls.crt: %q, tls.key: %q}\n",
		namespace, name, base64.StdEncoding.EncodeToString(p.crt), base64.StdEncoding.EncodeToString(p.key))
}

// presented returns the common name of the certificate for a name, by the rules of the
// Lua side: the name, its wildcard, the default.
func presented(t *testing.T, config model.Config, name string) string {
	t.Helper()
	_, parent, _ := strings.Cut(name, ".")
	for _, host := range []string{name, "*." + parent, ""} {
		for _, n := range config.Dynamic.Names {
			if n.Host != host {
				continue
			}
			for _, c := range config.Dynamic.Certificates {
				if c.ID == n.ID {
					block, _ := pem.Decode(c.Chain)
					leaf, err := x509.ParseCertificate(block.Bytes)
					if err != nil {
						t.Fatal(err)
					}
					return leaf.Subject.CommonName
				}
			}
			t.Fatalf("%s has a certificate that is not pushed", host)
		}
	}
	return "none"
}

func TestCertificatesByHost(t *testing.T) {
	t.Parallel()
	shop, wild, other := issue(t, "shop.example", "www.shop.example"), issue(t, "*.wild.example"), issue(t, "other.example")
	standard := issue(t, "default.example")
	swapped := pair{shop.crt, other.key}
	yaml := secret("default/shop", shop) + secret("default/wild", wild) + secret("default/other", other) + secret("default/swapped", swapped) +
		secret("default/standard", standard) + secret("team/shop", shop)
	for name, test := range map[string]struct {
		ingresses []ing
		names     map[string]string // and whether they are redirected, by a ">" before
		problems  []string
	}{
		"by the item": {[]ing{{name: "i", tls: []string{"shop shop.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">shop.example", "unknown.example": "default.example"}, nil},
		"by the certificate": {[]ing{{name: "i", tls: []string{"other", "shop nobody.example"}, rules: []string{"www.shop.example / P a:80"}}},
			map[string]string{"www.shop.example": ">shop.example"}, []string{"NoEffect Ingress default/i spec.tls[1].hosts[0]"}},
		"by the certificate, under a wildcard": {[]ing{{name: "i", tls: []string{"wild *.wild.example"}, rules: []string{"x.wild.example / P a:80"}}},
			map[string]string{"x.wild.example": ">*.wild.example"}, nil},
		"by the certificate, above a name": {[]ing{{name: "i", tls: []string{"wild x.wild.example"}, rules: []string{"*.wild.example / P a:80"}}},
			map[string]string{"x.wild.example": ">*.wild.example"}, nil},
		"another name's, under a wildcard": {[]ing{{name: "i", tls: []string{"other *.shop.example"}, rules: []string{"www.shop.example / P a:80"}}},
			map[string]string{"www.shop.example": ">default.example"}, []string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"another name's, for any host": {[]ing{{name: "i", tls: []string{"other"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, []string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"another name's, in a later item under the wildcard": {[]ing{{name: "i", tls: []string{"- *.shop.example", "swapped *.shop.example", "other *.shop.example"}, rules: []string{"www.shop.example / P a:80"}}},
			map[string]string{"www.shop.example": ">default.example"}, []string{"InvalidValue Ingress default/i spec.tls[1].secretName", "InvalidValue Ingress default/i spec.tls[2].secretName"}},
		"a later one with the Secret that was read last": {[]ing{{name: "first", age: 2, tls: []string{"other", "- nobody.example"}, rules: []string{"shop.example /f P a:80"}}, {name: "later", age: 1, tls: []string{"other shop.example"}, rules: []string{"shop.example /l P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, []string{"InvalidValue Ingress default/first spec.tls[0].secretName", "NoEffect Ingress default/first spec.tls[1].hosts[0]"}},
		"a host that only another Ingress has": {[]ing{{name: "i", tls: []string{"shop shop.example"}, rules: []string{"other.example / P a:80"}}, {name: "j", rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": "default.example"}, []string{"NoEffect Ingress default/i spec.tls[0].hosts[0]"}},
		"a host beside rules without one": {[]ing{{name: "i", tls: []string{"shop shop.example www.shop.example"}, rules: []string{"shop.example / P a:80", "* / P a:80"}}},
			map[string]string{"www.shop.example": "default.example"}, []string{"NoEffect Ingress default/i spec.tls[0].hosts[1]"}},
		"no tls": {[]ing{{name: "i", rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": "default.example"}, nil},
		"no secret name": {[]ing{{name: "i", tls: []string{"- shop.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, nil},
		"a host that no item names": {[]ing{{name: "i", tls: []string{"other other.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example", "other.example": "default.example"}, []string{"NoEffect Ingress default/i spec.tls[0].hosts[0]"}},
		"missing": {[]ing{{name: "i", tls: []string{"nosuch shop.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, []string{"NotFound Ingress default/i spec.tls[0].secretName"}},
		"missing, by the certificate": {[]ing{{name: "i", tls: []string{"nosuch", "shop"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">shop.example"}, []string{"NotFound Ingress default/i spec.tls[0].secretName"}},
		"broken": {[]ing{{name: "i", tls: []string{"swapped shop.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, []string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"another name's": {[]ing{{name: "i", tls: []string{"other shop.example"}, rules: []string{"shop.example / P a:80"}}},
			map[string]string{"shop.example": ">default.example"}, []string{"InvalidValue Ingress default/i spec.tls[0].secretName"}},
		"of the Ingress's own namespace": {[]ing{{name: "team/i", tls: []string{"wild x.wild.example"}, rules: []string{"x.wild.example / P a:80"}}},
			map[string]string{"x.wild.example": ">default.example"}, []string{"NotFound Ingress team/i spec.rules[0].http.paths[0].backend.service.name", "NotFound Ingress team/i spec.tls[0].secretName"}},
		"wildcard": {[]ing{{name: "i", tls: []string{"wild *.wild.example"}, rules: []string{"*.wild.example / P a:80"}}, {name: "j", rules: []string{"x.wild.example / P b:80", "a.b.wild.example / P b:80"}}},
			map[string]string{"x.wild.example": ">*.wild.example", "y.wild.example": ">*.wild.example", "a.b.wild.example": "default.example"}, nil},
		"a default certificate before a wildcard's": {[]ing{{name: "i", tls: []string{"wild *.wild.example"}, rules: []string{"*.wild.example / P a:80"}}, {name: "j", tls: []string{"- x.wild.example"}, rules: []string{"x.wild.example / P b:80"}}},
			map[string]string{"x.wild.example": ">default.example"}, nil},
		"the oldest with tls decides": {[]ing{{name: "plain", age: 3, rules: []string{"shop.example /p P a:80"}}, {name: "first", age: 2, tls: []string{"shop shop.example"}, rules: []string{"shop.example /f P a:80"}},
			{name: "later", age: 1, tls: []string{"other shop.example"}, rules: []string{"shop.example /l P a:80"}}, {name: "agrees", tls: []string{"shop shop.example"}, rules: []string{"shop.example /a P a:80"}}},
			map[string]string{"shop.example": ">shop.example"}, []string{"Conflict Ingress default/later spec.tls[0].secretName"}},
		"a rule without host": {[]ing{{name: "i", tls: []string{"shop"}, rules: []string{"* / P a:80"}}},
			map[string]string{"any.example": "default.example"}, []string{"Unsupported Ingress default/i spec.tls"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{yaml: yaml, ingresses: test.ingresses, options: func(o *Options) { o.DefaultCertificate = snapshot.Name{Namespace: "default", Name: "standard"} }}
			config, problems := w.translate(t)
			if diff := cmp.Diff(test.problems, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			for host, want := range test.names {
				got := presented(t, config, host)
				if redirected(config, host) {
					got = ">" + got
				}
				if got != want {
					t.Errorf("%s: got %s, want %s", host, got, want)
				}
			}
		})
	}
}

// redirected reports whether the path / of a host is redirected to HTTPS.
func redirected(config model.Config, host string) bool {
	for _, s := range config.Static.Servers {
		if s.Host == host || strings.HasPrefix(s.Host, "*") && strings.HasSuffix(host, s.Host[1:]) && !strings.Contains(strings.TrimSuffix(host, s.Host[1:]), ".") {
			return s.RedirectToHTTPS != nil || s.Locations[0].RedirectToHTTPS != nil
		}
	}
	return false
}

func TestDefaultCertificate(t *testing.T) {
	t.Parallel()
	made := &model.Certificate{ID: "made"}
	good, broken := issue(t, "default.example"), pair{crt: []byte("x"), key: []byte("y")}
	for _, test := range []struct {
		name, want string
		problems   []string
	}{
		{"", "made", nil},
		{"good", "", nil},
		{"nosuch", "made", []string{"NotFound Secret default/nosuch"}},
		{"broken", "made", []string{"InvalidValue Secret default/broken"}},
	} {
		config, problems := world{yaml: secret("default/good", good) + secret("default/broken", broken), options: func(o *Options) {
			o.FallbackCertificate = made
			if test.name != "" {
				o.DefaultCertificate = snapshot.Name{Namespace: "default", Name: test.name}
			}
		}}.translate(t)
		if len(config.Dynamic.Names) != 1 || len(config.Dynamic.Certificates) != 1 || config.Dynamic.Names[0].Host != "" || (config.Dynamic.Names[0].ID == "made") != (test.want == "made") {
			t.Errorf("%s: %+v", test.name, config.Dynamic.Names)
		}
		if diff := cmp.Diff(test.problems, problems); diff != "" {
			t.Error(diff)
		}
	}
}

// Every usual kind of key is read, in each encoding. Only the certificates and the key
// are pushed.
func TestKeysOfAllKinds(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(ecKey)
	if err != nil {
		t.Fatal(err)
	}
	intermediate := issue(t, "intermediate").crt
	noisy := func(p pair) pair {
		return pair{append(append([]byte("comment\n"), p.crt...), append([]byte("# more\n"), intermediate...)...),
			append([]byte("-----BEGIN EC PARAMETERS-----\nBgUrgQQAIg==\n-----END EC PARAMETERS-----\n"), p.key...)}
	}
	rsaPair, ecPair := issueWith(t, rsaKey, "x"), issueWith(t, ecKey, "x")
	for name, p := range map[string]pair{
		"RSA": rsaPair, "ECDSA": ecPair, "Ed25519": issueWith(t, edKey, "x"),
		"RSA in PKCS #1":  {rsaPair.crt, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})},
		"ECDSA in SEC 1":  {ecPair.crt, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1})},
		"more than asked": noisy(ecPair),
	} {
		got := readKeyPair(p.crt, p.key)
		if got.certificate == nil {
			t.Errorf("%s: %s", name, got.fault)
			continue
		}
		want := 1
		if name == "more than asked" {
			want = 2
		}
		if n := bytes.Count(got.certificate.Chain, []byte("BEGIN CERTIFICATE")); n != want || bytes.Contains(got.certificate.Chain, []byte("comment")) || bytes.Count(got.certificate.Key, []byte("BEGIN")) != 1 {
			t.Errorf("%s: %d certificates\n%s", name, n, got.certificate.Chain)
		}
		if !claim.Covers(got.names, "X") || claim.Covers(got.names, "y") {
			t.Errorf("%s: names %v", name, got.names)
		}
	}
}

// The fault of a Secret contains no byte of it.
func TestBrokenSecretsAreNotQuoted(t *testing.T) {
	t.Parallel()
	good, other := issue(t, "a.example"), issue(t, "a.example")
	junk := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("hunter2-not-der")})
	junkKey := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("hunter2-not-der")})
	for name, p := range map[string]pair{
		"nothing": {}, "no certificate": {nil, good.key}, "no key": {good.crt, nil}, "no PEM": {[]byte("hunter2"), good.key}, "key is no PEM": {good.crt, []byte("hunter2")},
		"key first": {append(append([]byte{}, good.key...), good.crt...), good.key}, "not DER": {junk, good.key}, "key is not DER": {good.crt, junkKey}, "another's key": {good.crt, other.key},
		"a broken intermediate": {append(append([]byte{}, good.crt...), junk...), good.key}, "certificate as key": {good.crt, good.crt},
	} {
		got := readKeyPair(p.crt, p.key)
		if got.certificate != nil || got.fault == "" {
			t.Errorf("%s was taken", name)
		}
		for _, part := range []string{"hunter2", base64.StdEncoding.EncodeToString([]byte("hunter2-not")), string(good.key[30:60])} {
			if strings.Contains(got.fault, part) {
				t.Errorf("%s: the fault quotes the Secret: %s", name, got.fault)
			}
		}
		w := world{ingresses: []ing{{name: "i", tls: []string{"s a.example"}, rules: []string{"a.example / P a:80"}}}}
		objects := w.objects(t)
		objects.Secrets = append(objects.Secrets, &corev1.Secret{Data: map[string][]byte{"tls.crt": p.crt, "tls.key": p.key}})
		objects.Secrets[0].Namespace, objects.Secrets[0].Name = "default", "s"
		config, problems := Config(newSnapshot(t, objects), w.flags(), nil)
		if len(problems) != 1 || len(config.Dynamic.Certificates) != 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
	taken := readKeyPair(good.crt, good.key)
	text, err := json.Marshal(taken.certificate)
	if err != nil || strings.Contains(fmt.Sprintf("%v %+v %s", *taken.certificate, *taken.certificate, text), base64.StdEncoding.EncodeToString([]byte("BEGIN PRIVATE"))) {
		t.Error("a key can be printed", err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	shop := issue(t, "shop.example")
	const tls = "shop shop.example"
	host := func(annotations map[string]string, rules ...string) ing {
		return ing{name: "i", annotations: annotations, tls: []string{tls}, rules: rules}
	}
	usual := &model.Redirect{Code: 308}
	for name, test := range map[string]struct {
		config    map[string]string
		ingresses []ing
		server    *model.Redirect
		locations map[string]*model.Redirect // by modifier and path, where not said by the server
	}{
		"all alike":      {nil, []ing{host(nil, "shop.example /x P a:80")}, usual, nil},
		"off":            {nil, []ing{host(map[string]string{"ssl-redirect": "false"}, "shop.example / P a:80")}, nil, map[string]*model.Redirect{"^~/": nil}},
		"off everywhere": {map[string]string{"ssl-redirect": "false"}, []ing{host(nil, "shop.example / P a:80")}, nil, map[string]*model.Redirect{"^~/": nil}},
		"forced without certificate": {nil, []ing{{name: "i", annotations: map[string]string{"force-ssl-redirect": "true"}, rules: []string{"shop.example /x E a:80"}}},
			usual, nil},
		"another code": {map[string]string{"http-redirect-code": "301"}, []ing{host(nil, "shop.example / P a:80")}, &model.Redirect{Code: 301}, nil},
		"port":         {map[string]string{"use-port-in-redirects": "true"}, []ing{host(nil, "shop.example / P a:80")}, &model.Redirect{Code: 308, Port: 8443}, nil},
		"slash":        {nil, []ing{host(map[string]string{"preserve-trailing-slash": "true"}, "shop.example / P a:80")}, &model.Redirect{Code: 308, KeepTrailingSlash: true}, nil},
		"mixed": {nil, []ing{host(nil, "shop.example /x E a:80", "shop.example /s/ E a:80"), {name: "plain", age: 1, annotations: map[string]string{"ssl-redirect": "false"}, rules: []string{"shop.example /p E b:80"}}},
			nil, map[string]*model.Redirect{"=/x": usual, "=/p": nil, "/": nil, "/s": nil, "=/s/": usual}},
		"exempt": {nil, []ing{host(map[string]string{"force-ssl-redirect": "true"}, "shop.example / P a:80", "shop.example /.well-known/acme-challenge/x P b:80")},
			nil, map[string]*model.Redirect{"^~/": usual, "=/.well-known/acme-challenge/x": nil, "^~/.well-known/acme-challenge/x/": nil}},
		"none are exempt": {map[string]string{"no-tls-redirect-locations": ""}, []ing{host(nil, "shop.example / P a:80", "shop.example /.well-known/acme-challenge P b:80")}, usual, nil},
		"denied": {nil, []ing{host(nil, "shop.example / P a:80"), {name: "bad", annotations: map[string]string{"allowlist-source-range": "x"}, rules: []string{"shop.example /d E a:80"}}},
			nil, map[string]*model.Redirect{"^~/": usual, "=/d": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{config: test.config, yaml: secret("default/shop", shop), ingresses: test.ingresses, options: func(o *Options) { o.HTTPSPort = 8443 }}
			config, _ := w.translate(t)
			s := serverNamed(t, config, "shop.example")
			if diff := cmp.Diff(test.server, s.RedirectToHTTPS); diff != "" {
				t.Error(diff)
			}
			got := map[string]*model.Redirect{}
			for _, l := range s.Locations {
				if test.server == nil {
					got[string(l.Modifier)+l.Path] = l.RedirectToHTTPS
				} else if l.RedirectToHTTPS != nil {
					t.Errorf("%s says again what the server says", l.Path)
				}
			}
			if diff := cmp.Diff(test.locations, got); test.server == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Redirects do not name the default port.
func TestUsualPortIsNotNamed(t *testing.T) {
	t.Parallel()
	config, _ := world{config: map[string]string{"use-port-in-redirects": "true"}, ingresses: []ing{{name: "i", annotations: map[string]string{"force-ssl-redirect": "true"}, rules: []string{"h / P a:80"}}}}.translate(t)
	if got := serverNamed(t, config, "h").RedirectToHTTPS; got == nil || got.Port != 0 {
		t.Errorf("%+v", got)
	}
}
