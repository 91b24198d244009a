package differential

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/selfsigned"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/guarded"
	"sluice/test/kit"
)

// world is what one nginx.conf serves: many sets, and one for the catch-all host.
type world struct {
	setup
	catchAll *set
	sets     []*set
	// requests are those of all sets.
	requests []asked
}

// setup is what holds for a whole file.
type setup struct {
	// regexScope is the setting of that name.
	regexScope string
	// slashRedirect is the setting trailing-slash-redirect.
	slashRedirect bool
	// defaultBackend is set if there is one.
	defaultBackend bool
}

// asked is a request with the set that it was made for.
type asked struct {
	request
	set *set
}

// setupOf gives four worlds in a row all combinations of the settings that say
// how paths match. A third of the worlds has a default backend.
func setupOf(number int) setup {
	return setup{
		regexScope:     []string{"host", "path"}[number%2],
		slashRedirect:  number/2%2 == 1,
		defaultBackend: (number+number/4)%3 == 0,
	}
}

// makeWorld makes the world of a number. Each of its sets depends on the seed and
// its own number only.
func makeWorld(seed uint64, number, sets int) *world {
	w := &world{setup: setupOf(number), catchAll: makeCatchAll(chance(seed, number, -1))}
	for i := range sets {
		w.sets = append(w.sets, makeSet(chance(seed, number, i), "s"+strconv.Itoa(i)+".test"))
	}
	w.gather()
	return w
}

// chance gives the random numbers of one set.
func chance(seed uint64, world, set int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(world)<<32|uint64(uint32(set))))
}

func (w *world) gather() {
	for _, s := range append([]*set{w.catchAll}, w.sets...) {
		for _, q := range s.requests {
			w.requests = append(w.requests, asked{q, s})
		}
	}
}

// ingresses are those of all sets.
func (w *world) ingresses() []*networkingv1.Ingress {
	all := w.catchAll.ingresses
	for _, s := range w.sets {
		all = append(all[:len(all):len(all)], s.ingresses...)
	}
	return all
}

// objects are all that the world's nginx.conf is made of.
func (w *world) objects(t testing.TB) snapshot.Objects {
	t.Helper()
	objects := snapshot.Objects{
		Ingresses: w.ingresses(), IngressClasses: []*networkingv1.IngressClass{class}, ConfigMaps: []*corev1.ConfigMap{w.configMap()},
		Secrets: []*corev1.Secret{secret(t)},
	}
	for _, name := range append(serviceNames(0, setServices+catchAllServices), fallbackService) {
		objects.Services = append(objects.Services, service(name))
		objects.EndpointSlices = append(objects.EndpointSlices, endpointSlice(name))
	}
	return objects
}

// translated is the model of a world's objects.
func (w *world) translated(t testing.TB, objects snapshot.Objects) *model.Config {
	t.Helper()
	snap, problems := snapshot.New(objects)
	if len(problems) > 0 {
		t.Fatalf("the objects are not valid: %v", problems[0])
	}
	options := kit.Options(t)
	options.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
	if w.defaultBackend {
		options.DefaultBackend = snapshot.Name{Namespace: namespace, Name: fallbackService}
	}
	config, problems := translate.Config(snap, options, nil)
	for _, line := range guarded.NewMemo().Open(snap, options, config.Static.Servers, problems) {
		t.Error("open is " + line)
	}
	return &config
}

var class = &networkingv1.IngressClass{
	TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass"},
	ObjectMeta: metav1.ObjectMeta{Name: "nginx"},
	Spec:       networkingv1.IngressClassSpec{Controller: "k8s.io/ingress-nginx"},
}

// configMap holds the settings.
func (w *world) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "config"},
		Data: map[string]string{
			"regex-scope": w.regexScope, "trailing-slash-redirect": strconv.FormatBool(w.slashRedirect),
			"disable-access-log": "true", "error-log-level": "error",
		},
	}
}

// secretName is the Secret of all hosts that have TLS.
const secretName = "certificate"

func secret(t testing.TB) *corev1.Secret {
	t.Helper()
	made, err := selfSigned()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var selfSigned = sync.OnceValues(func() (*corev1.Secret, error) {
	certificate, err := selfsigned.Certificate(oldest)
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secretName},
		Type:       corev1.SecretTypeTLS,
		Data:       map[string][]byte{corev1.TLSCertKey: certificate.Chain, corev1.TLSPrivateKeyKey: certificate.Key},
	}, nil
})

func service(name string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
	}
}

func endpointSlice(service string) *discoveryv1.EndpointSlice {
	port, portName := int32(80), "http"
	return &discoveryv1.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta:  metav1.ObjectMeta{Namespace: namespace, Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: &port}},
	}
}
