package migrate

import (
	"testing"
)

// TestValuesOfAWrongType: the chart refuses them, so that none is kept, and each says what to
// write.
func TestValuesOfAWrongType(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ values, name, want string }{
		{"controller: 3", "controller", "want an object (got 3)"},
		{"controller: {replicaCount: three}", "controller.replicaCount", `want a whole number (got "three")`},
		{"controller: {replicaCount: 2.5}", "controller.replicaCount", "want a whole number (got 2.5)"},
		{"controller: {service: [1]}", "controller.service", "want an object (got [1])"},
		{"controller: {extraArgs: [a]}", "controller.extraArgs", `want an object (got ["a"])`},
		{"controller: {extraArgs: {v: [2]}}", "controller.extraArgs.v", "want text, a number or true or false (got [2])"},
		{"controller: {config: {proxy-body-size: [8m]}}", "controller.config.proxy-body-size", `want text, a number or true or false (got ["8m"])`},
		{"controller: {kind: Pod}", "controller.kind", `want Deployment or DaemonSet (got "Pod")`},
		{"controller: {admissionWebhooks: {enabled: 1}}", "controller.admissionWebhooks.enabled", "want true or false (got 1)"},
		{"tcp: {http: shop/web:80}", "tcp.http", "the chart takes no such name here"},
		{`tcp: {"80": web}`, "tcp.80", `want text of the form `},
	} {
		v, err := ReadValues([]byte(test.values))
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Given) != 1 || v.Given[0].Name != test.name || v.Given[0].Fate != Refused || len(v.Given[0].Text) < len(test.want) || v.Given[0].Text[:len(test.want)] != test.want || len(v.Extra) > 0 {
			t.Errorf("%s: %+v %v, want %s with %s", test.values, v.Given, v.Extra, test.name, test.want)
		}
	}
}

// TestValuesOfTheRightType: a null removes a default, and a number of a flag may be text.
func TestValuesOfTheRightType(t *testing.T) {
	t.Parallel()
	v, err := ReadValues([]byte(`{tcp: {"80": "shop/web:80"}, controller: {kind: null, replicaCount: 2, config: {a: null, gzip-level: 3}, extraArgs: {v: 2}, tolerations: [{key: a}], service: {annotations: {a: b}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range v.Given {
		if a.Fate == Refused {
			t.Errorf("%+v", a)
		}
	}
}
