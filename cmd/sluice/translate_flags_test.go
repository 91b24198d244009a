package main

import (
	"strings"
	"testing"

	"sluice/internal/translate"
)

// A prefix that no annotation can have is refused with its value.
func TestAnnotationsPrefix(t *testing.T) {
	t.Parallel()
	for value, valid := range map[string]bool{"": false, "a b": false, "a/b": false, "Upper": false, "nginx.ingress.kubernetes.io": true, "x": true} {
		f := translateFlags{Options: translate.Options{AnnotationsPrefix: value}}
		_, err := f.options()
		refused := err != nil && strings.HasPrefix(err.Error(), "--annotations-prefix: want a DNS subdomain") && strings.Contains(err.Error(), `(got "`+value+`")`)
		if refused == valid {
			t.Errorf("%q: %v", value, err)
		}
	}
}
