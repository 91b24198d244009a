package injection

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/keys"
	"sluice/internal/snapshot"
	"sluice/test/kit"
)

// TestSettingsAreNotAnnotations puts each value with a directive in all annotations of
// the ConfigMap at once: those of an Ingress mean nothing there.
func TestSettingsAreNotAnnotations(t *testing.T) {
	t.Parallel()
	w, objects := newWorker(t), worldObjects(t)
	before := w.run(objects)
	for _, value := range attacks {
		hostile := map[string]string{}
		for _, key := range everyKey()["Ingress"]["metadata.annotations"] {
			hostile[key] = value
		}
		changed := objects
		changed.ConfigMaps = nil
		for _, m := range objects.ConfigMaps {
			m = m.DeepCopy()
			m.Annotations = hostile
			changed.ConfigMaps = append(changed.ConfigMaps, m)
		}
		if after := w.run(changed); !after.file.Equal(before.file) || !slices.Equal(after.problems, before.problems) {
			t.Errorf("annotations of ConfigMaps with the value %s change the file, or the problems: %v", named(value), after.problems)
		}
	}
}

// misunderstood is what nginx may refuse a file for: only what the words of a value
// mean to OpenSSL.
var misunderstood = regexp.MustCompile(`SSL_CTX_set_cipher_list|SSL_CTX_set1_curves_list|SSL_CTX_set1_groups_list|[Uu]nknown curve`)

// TestNginxTakesHostileSettings has nginx read what becomes of each hostile value
// of each setting that is a text, and of those that depend on others beside these.
func TestNginxTakesHostileSettings(t *testing.T) {
	t.Parallel()
	cases := textSettings(t)
	for _, installed := range kit.Nginxes(t) {
		for key, values := range cases {
			t.Run(installed.Name+"/"+key, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, installed)
				w := newWorker(t)
				w.on(s)
				for _, data := range values {
					if out := s.check(t, w.run(withData(little(t), data)).file); out != "" && !misunderstood.MatchString(out) {
						t.Errorf("%.200q: nginx refuses the file: %.500s", data, out)
					}
				}
			})
		}
	}
}

// textSettings gives, by the key, the settings that give a file which no other
// value gives. Most values are refused, and change nothing.
func textSettings(t *testing.T) map[string][]map[string]string {
	t.Helper()
	cases := map[string][]map[string]string{}
	w, seen := newWorker(t), map[string]bool{}
	for _, doc := range settingDocs() {
		if numeric(doc) || strings.HasSuffix(doc.Key, "-path") {
			continue // nginx opens a file even to test the file that names it
		}
		for _, value := range corpus {
			alone := map[string]string{doc.Key: value}
			beside := maps.Clone(together[0])
			beside[doc.Key] = value
			for _, data := range []map[string]string{alone, beside} {
				if len(data) > 1 && !slices.Contains(dependent, doc.Key) {
					continue
				}
				if hash := w.run(withData(little(t), data)).file.Hash(); !seen[hash] {
					seen[hash] = true
					cases[doc.Key] = append(cases[doc.Key], data)
				}
			}
		}
	}
	for _, key := range append([]string{"log-format-upstream", "ssl-ciphers", "whitelist-source-range"}, dependent...) {
		if len(cases[key]) == 0 {
			t.Errorf("no value of %s changes the file", key)
		}
	}
	return cases
}

// little gives a small part of the world, as nginx reads what becomes of it many
// times.
func little(t *testing.T) snapshot.Objects {
	t.Helper()
	objects := sharedWorld(t)
	objects.Ingresses = []*networkingv1.Ingress{ingress(t, objects, "plain")}
	return objects
}

// numeric is true for a key whose values are numbers or switches: a value of it
// that is valid holds no text of the user's.
func numeric(doc keys.Doc) bool {
	return slices.Contains([]string{"bool", "int", "int or auto", "number", "size", "number and size", "duration"}, doc.Type)
}
