package injection

import (
	"fmt"
	"maps"
	"regexp"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/test/kit"
)

// misunderstood is what nginx may refuse a file for: only what the words of a value
// mean to OpenSSL.
var misunderstood = regexp.MustCompile(`SSL_CTX_set_cipher_list|SSL_CTX_set1_curves_list|SSL_CTX_set1_groups_list|[Uu]nknown curve`)

// TestNginxTakesHostileSettings has nginx read what becomes of each hostile value
// of each setting, and of those that depend on others beside these. Most values are
// refused, and leave the file as it is.
func TestNginxTakesHostileSettings(t *testing.T) {
	t.Parallel()
	for _, installed := range kit.Nginxes(t) {
		for i, beside := range append([]map[string]string{{}}, together...) {
			keys := dependent
			if i == 0 {
				keys = settingKeys()
			}
			t.Run(fmt.Sprintf("%s, %d", installed.Name, i), func(t *testing.T) {
				t.Parallel()
				s := newSite(t, installed)
				for _, hostile := range s.files(t, keys, beside) {
					if out := s.check(t, hostile.file); out != "" && !misunderstood.MatchString(out) {
						t.Errorf("%s = %s beside %v: nginx refuses the file: %.500s", hostile.key, named(hostile.value), beside, out)
					}
				}
			})
		}
	}
}

// hostileFile is what becomes of a value.
type hostileFile struct {
	outcome
	key, value string
}

// files gives each file that comes of a setting, once. A small part of the world is
// enough, as nginx reads many of them.
func (s *site) files(t *testing.T, keys []string, beside map[string]string) []hostileFile {
	t.Helper()
	w := newWorker(t)
	w.environment = s.Environment
	objects := sharedWorld(t)
	objects.Ingresses = []*networkingv1.Ingress{ingress(t, objects, "plain")}
	seen := map[string]bool{}
	var found []hostileFile
	for _, key := range keys {
		for _, value := range corpus {
			data := maps.Clone(beside)
			data[key] = value
			o := w.run(withData(objects, data))
			if hash := o.file.Hash(); !seen[hash] {
				seen[hash] = true
				found = append(found, hostileFile{o, key, value})
			}
		}
	}
	if len(found) < 2 {
		t.Errorf("no value beside %v changes the file", beside)
	}
	return found
}
