package annotations

import (
	"testing"
)

// The server of the settings decides about paths whose Ingress has none and asks for no
// exception. A setting that cannot be read closes those paths only.
func TestGlobalAuthentication(t *testing.T) {
	t.Parallel()
	const url, own = "http://auth.example/check", "http://own.example/"
	global := map[string]string{"global-auth-url": url, "global-auth-method": "POST", "global-auth-response-headers": "X-A", "global-auth-cache-key": "$cookie_a"}
	broken := map[string]string{"global-auth-url": url, "global-auth-response-headers": "X A"}
	for name, test := range map[string]struct {
		config, annotations map[string]string
		url, method         string
		denied              bool
	}{
		"none":                        {nil, nil, "", "", false},
		"without a URL":               {map[string]string{"global-auth-method": "FOO"}, nil, "", "", false},
		"plain":                       {global, nil, url, "POST", false},
		"other annotations":           {global, map[string]string{"proxy-body-size": "2m", "auth-method": "PUT", "auth-signin": "no URL"}, url, "POST", false},
		"own":                         {global, map[string]string{"auth-url": own}, own, "", false},
		"own, empty":                  {global, map[string]string{"auth-url": " "}, url, "POST", false},
		"own, not valid":              {global, map[string]string{"auth-url": "x"}, "", "", true},
		"exempt":                      {global, map[string]string{"enable-global-auth": "false"}, "", "", false},
		"exempt, but with its own":    {global, map[string]string{"enable-global-auth": "false", "auth-url": own}, own, "", false},
		"not exempt":                  {global, map[string]string{"enable-global-auth": "true"}, url, "POST", false},
		"an exemption that is none":   {global, map[string]string{"enable-global-auth": "no"}, url, "POST", false},
		"broken":                      {broken, nil, url, "", true},
		"broken, own":                 {broken, map[string]string{"auth-url": own}, own, "", false},
		"broken, exempt":              {broken, map[string]string{"enable-global-auth": "false"}, "", "", false},
		"broken URL":                  {map[string]string{"global-auth-url": "auth"}, nil, "", "", true},
		"broken URL, exempt":          {map[string]string{"global-auth-url": "auth"}, map[string]string{"enable-global-auth": "0"}, "", "", false},
		"broken URL, other behaviour": {map[string]string{"global-auth-url": "auth"}, map[string]string{"enable-cors": "true"}, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readWith(t, test.config, test.annotations)
			if p.Denied() != test.denied || p.Guards() != (test.denied || test.url != "") {
				t.Errorf("denied %v, guards %v", p.Denied(), p.Guards())
			}
			if a := p.ExternalAuth; !test.denied && (a.URL != test.url || a.Method != test.method || a.OfSettings() != (a.URL == url)) {
				t.Errorf("%+v", a)
			}
		})
	}
}
