package plugin

import (
	"bytes"
	"strings"
	"testing"
)

// TestWatchedProblems: each is told when it comes and when it goes; columns keep their places.
func TestWatchedProblems(t *testing.T) {
	t.Parallel()
	problem := func(name, reason string) string {
		return `{"object": {"kind": "Ingress", "namespace": "shop", "name": "` + name + `"}, "reason": "` + reason + `", "text": "<b>", "later": 1}`
	}
	answers := []string{
		"[" + problem("a-long-name", "Refused") + ",\n" + problem("b", "Invalid") + "]",
		"[" + problem("a-long-name", "Refused") + ",\n" + problem("b", "Invalid") + "]", // the time was over
		"[" + problem("b", "Invalid") + "," + problem("b", "Conflict") + "]",
		"[]",
	}
	for format, want := range map[string]string{
		asTable: `EVENT   OBJECT                     REASON    FIELD   TEXT
ADDED   Ingress shop/a-long-name   Refused   -       <b>
ADDED   Ingress shop/b             Invalid   -       <b>
REMOVED   Ingress shop/a-long-name   Refused    -       <b>
ADDED     Ingress shop/b             Conflict   -       <b>
REMOVED   Ingress shop/b             Conflict   -       <b>
REMOVED   Ingress shop/b             Invalid    -       <b>
`,
		asJSON: `{"event":"ADDED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"a-long-name"},"reason":"Refused","text":"<b>","later":1}}
{"event":"ADDED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"b"},"reason":"Invalid","text":"<b>","later":1}}
{"event":"REMOVED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"a-long-name"},"reason":"Refused","text":"<b>","later":1}}
{"event":"ADDED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"b"},"reason":"Conflict","text":"<b>","later":1}}
{"event":"REMOVED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"b"},"reason":"Conflict","text":"<b>","later":1}}
{"event":"REMOVED","problem":{"object":{"kind":"Ingress","namespace":"shop","name":"b"},"reason":"Invalid","text":"<b>","later":1}}
`,
	} {
		var out bytes.Buffer
		w := problemWatch{output: output{Writer: &out, format: format}}
		for _, answer := range answers {
			if err := w.take([]byte(answer)); err != nil {
				t.Fatal(err)
			}
		}
		if out.String() != want {
			t.Errorf("%s: got\n%swant\n%s", format, out.String(), want)
		}
	}
	w := problemWatch{output: output{Writer: new(bytes.Buffer), format: asJSON}}
	if err := w.take([]byte("no JSON")); err == nil || !strings.Contains(err.Error(), "read the answer of the controller") {
		t.Error(err)
	}
}
