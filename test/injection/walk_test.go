package injection

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sluice/internal/annotations"
)

// place is one string of an object: a field, an item of a list, a key or a value
// of a map.
type place struct {
	// path is that of the field, such as "spec.rules[0].host"; the key of a map
	// entry ends in "#key".
	path string
	// old is what the place held.
	old string
	// extra is set for a key that the object lacks.
	extra bool
	set   func(value string)
}

// walker finds the strings of an object. What the object leaves out, it walks as
// if it were there: a nil pointer as a zero value, an empty list as one of one
// item. That is put into the object when one of its strings is set.
type walker struct {
	places []place
	// extra are keys that maps have places for though the object lacks them.
	extra map[string][]string
}

// placesOf gives every string of an object, which set changes. extra are keys
// of maps, by the path of the map.
func placesOf(object any, extra map[string][]string) []place {
	w := &walker{extra: extra}
	w.walk("", reflect.ValueOf(object).Elem(), func() {})
	return w.places
}

var opaque = []reflect.Type{reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[metav1.MicroTime]()}

// walk goes into a value; attach puts the value, if it is new, into the object.
func (w *walker) walk(path string, v reflect.Value, attach func()) {
	if slices.Contains(opaque, v.Type()) {
		return
	}
	if port, ok := v.Addr().Interface().(*intstr.IntOrString); ok {
		w.add(path, port.StrVal, func(s string) { *port = intstr.FromString(s); attach() })
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.add(path, v.String(), func(s string) { v.SetString(s); attach() })
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.IsExported() {
				w.walk(strings.Trim(path+"."+name, "."), v.Field(i), attach)
			}
		}
	case reflect.Pointer:
		w.pointer(path, v, attach)
	case reflect.Slice:
		w.slice(path, v, attach)
	case reflect.Map:
		w.mapping(path, v, attach)
	}
}

func (w *walker) add(path, old string, set func(string)) {
	w.places = append(w.places, place{path: path, old: old, set: set})
}

func (w *walker) pointer(path string, v reflect.Value, attach func()) {
	if !v.IsNil() {
		w.walk(path, v.Elem(), attach)
		return
	}
	fresh := reflect.New(v.Type().Elem())
	w.walk(path, fresh.Elem(), func() { v.Set(fresh); attach() })
}

func (w *walker) slice(path string, v reflect.Value, attach func()) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		w.add(path, string(v.Bytes()), func(s string) { v.SetBytes([]byte(s)); attach() })
		return
	}
	for i := range v.Len() {
		w.walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i), attach)
	}
	if v.Len() == 0 {
		fresh := reflect.MakeSlice(v.Type(), 1, 1)
		w.walk(path+"[0]", fresh.Index(0), func() { v.Set(fresh); attach() })
	}
}

// mapping changes a copy of the map each time, as a new key must not stay.
func (w *walker) mapping(path string, v reflect.Value, attach func()) {
	entries := map[string]string{}
	text := func(s string) reflect.Value { return reflect.ValueOf(s).Convert(v.Type().Elem()) }
	if v.Type().Elem().Kind() != reflect.String && v.Type().Elem() != reflect.TypeFor[[]byte]() {
		panic("a map of " + v.Type().Elem().String() + " needs a way to be walked")
	}
	for _, key := range v.MapKeys() {
		entries[key.String()] = fmt.Sprintf("%s", v.MapIndex(key).Interface())
	}
	put := func(changed map[string]string) {
		fresh := reflect.MakeMap(v.Type())
		for key, value := range changed {
			fresh.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), text(value))
		}
		v.Set(fresh)
		attach()
	}
	names := slices.Sorted(maps.Keys(entries))
	for _, extra := range w.extra[path] {
		if _, there := entries[extra]; !there {
			names = append(names, extra)
		}
	}
	for _, key := range names {
		w.add(path+"["+key+"]", entries[key], func(s string) {
			changed := maps.Clone(entries)
			changed[key] = s
			put(changed)
		})
		if _, there := entries[key]; !there {
			w.places[len(w.places)-1].extra = true
			continue
		}
		front := ""
		if strings.HasPrefix(key, prefix) {
			front = prefix // one that is not ours is not read
		}
		w.add(path+"["+key+"]#key", key, func(s string) {
			changed := maps.Clone(entries)
			delete(changed, key)
			changed[front+s] = entries[key]
			put(changed)
		})
	}
	if len(names) == 0 {
		w.add(path+"[x]", "", func(s string) { put(map[string]string{"x": s}) })
		w.add(path+"[x]#key", "", func(s string) { put(map[string]string{s: "x"}) })
	}
}

// everyKey are all annotations of an Ingress and all settings of a ConfigMap, by the
// kind and by the path of the map.
func everyKey() map[string]map[string][]string {
	names := []string{prefix + "no-such-annotation", "kubernetes.io/ingress.class"}
	for _, key := range append(annotationKeys(), unsupported...) {
		names = append(names, annotations.FieldOf(prefix, key))
	}
	for _, key := range byPath {
		names = append(names, annotations.PathsPrefix+key)
	}
	return map[string]map[string][]string{"Ingress": {"metadata.annotations": unique(names)}, "ConfigMap": {"data": settingKeys()}}
}

// byPath are annotations that are tried by path, too: they print text, patterns, lists
// and names.
var byPath = []string{"backend-protocol", "fastcgi-index", "fastcgi-params-configmap", "rewrite-target", "upstream-vhost", "permanent-redirect", "allowlist-source-range", "limit-rps", "auth-url", "upstream-hash-by", "custom-http-errors", "default-backend", "auth-cache-key", "satisfy", "enable-opentelemetry", "opentelemetry-operation-name", "response-headers", "deny-paths", "match-headers", "no-such-annotation"}

// unsupported are annotations of ingress-nginx that were once a way in, or that
// protect. Those that Sluice learns to read are walked as all others.
var unsupported = []string{
	"auth-url", "auth-signin", "auth-secret", "auth-type", "auth-method", "auth-snippet", "auth-tls-secret", "auth-tls-match-cn", "auth-tls-verify-client", "auth-proxy-set-headers",
	"configuration-snippet", "server-snippet", "stream-snippet", "modsecurity-snippet", "mirror-target", "mirror-host",
}

func TestWalkFindsEveryString(t *testing.T) {
	t.Parallel()
	ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"k": "v"}}, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "a"}}}}
	paths := map[string]place{}
	for _, p := range placesOf(ing, everyKey()["Ingress"]) {
		paths[p.path] = p
	}
	for _, want := range []string{
		"metadata.name", "metadata.uid", "metadata.namespace", "metadata.labels[x]", "metadata.labels[x]#key", "metadata.annotations[" + prefix + "rewrite-target]",
		"metadata.annotations[" + prefix + "auth-url]", "spec.ingressClassName", "spec.rules[0].host", "spec.rules[0].http.paths[0].path",
		"spec.rules[0].http.paths[0].backend.service.port.name", "spec.rules[0].http.paths[0].backend.resource.apiGroup", "spec.tls[0].hosts[0]", "spec.tls[0].secretName",
		"spec.defaultBackend.service.name", "metadata.ownerReferences[0].uid",
	} {
		if _, ok := paths[want]; !ok {
			t.Errorf("no place %s", want)
		}
	}
	paths["spec.rules[0].http.paths[0].backend.service.port.name"].set("x;")
	paths["spec.ingressClassName"].set("y;")
	if got := ing.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port.Name; got != "x;" || *ing.Spec.IngressClassName != "y;" {
		t.Errorf("the place was set to %q", got)
	}
	key := paths["metadata.annotations[k]#key"]
	key.set("a")
	key.set("b")
	if len(ing.Annotations) != 1 {
		t.Errorf("a former key stays: %v", ing.Annotations)
	}
	secret := &corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x")}}
	for _, p := range placesOf(secret, nil) {
		if p.path == "data[tls.crt]" {
			p.set("\xff")
		}
	}
	if string(secret.Data["tls.crt"]) != "\xff" {
		t.Errorf("the data are %q", secret.Data)
	}
	service := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{}}}}
	for _, p := range placesOf(service, nil) {
		if p.path == "spec.ports[0].targetPort" {
			p.set(strconv.Quote("p"))
		}
	}
	if service.Spec.Ports[0].TargetPort.StrVal != `"p"` {
		t.Errorf("the target port is %v", service.Spec.Ports[0].TargetPort)
	}
}
