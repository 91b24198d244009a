package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// translateFlags are the flags for package translate. Their names and defaults are those of
// ingress-nginx.
type translateFlags struct {
	// Options are the flags that need no parsing. The others are names of objects.
	translate.Options
	configMap          string
	defaultBackend     string
	defaultCertificate string
	namedSnippets      string
	tcpServices        string
	udpServices        string
}

func (f *translateFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.IngressClasses, "ingress-class", []string{"nginx"}, "names of the classes to serve, separated by commas")
	flags.StringVar(&f.ControllerClass, "controller-class", "k8s.io/ingress-nginx", "spec.controller of the IngressClass objects to serve")
	flags.BoolVar(&f.ClassByName, "ingress-class-by-name", false, "serve an IngressClass with a name of --ingress-class, whatever its spec.controller")
	flags.BoolVar(&f.WithoutClass, "watch-ingress-without-class", false, "also serve Ingresses that name no class")
	flags.BoolVar(&f.DisableCatchAll, "disable-catch-all", false, "do not serve Ingresses that have a spec.defaultBackend")
	flags.StringVar(&f.AnnotationsPrefix, "annotations-prefix", "nginx.ingress.kubernetes.io", "prefix of the annotations")
	flags.StringVar(&f.configMap, "configmap", "", "ConfigMap with the settings, as NAMESPACE/NAME")
	flags.StringVar(&f.defaultBackend, "default-backend-service", "", "Service for requests that no rule matches, as NAMESPACE/NAME; Sluice uses its first port")
	flags.StringVar(&f.defaultCertificate, "default-ssl-certificate", "", "Secret with the default certificate, as NAMESPACE/NAME; a self-signed one if empty")
	flags.StringVar(&f.namedSnippets, "named-snippets", "", "ConfigMap with the snippets that Ingresses use by their names, as NAMESPACE/NAME")
	flags.StringVar(&f.tcpServices, "tcp-services-configmap", "", "ConfigMap with the TCP services, as NAMESPACE/NAME: a port as the key, NAMESPACE/SERVICE:PORT[:PROXY[:PROXY]] as the value")
	flags.StringVar(&f.udpServices, "udp-services-configmap", "", "ConfigMap with the UDP services, as NAMESPACE/NAME: a port as the key, NAMESPACE/SERVICE:PORT as the value")
	flags.BoolVar(&f.DisableExternalName, "disable-svc-external-name", false, "do not use Services of the type ExternalName: paths with one return 503")
	flags.StringVar(&f.HealthPath, "health-check-path", "/healthz", "path of the liveness check; the ports for HTTP and HTTPS also return 200 there, for hosts without a rule and for IP addresses, for load balancers")
	flags.BoolVar(&f.RequireConfigMap, "require-configmap", false, "return 503 on every path, and stay not ready, until the ConfigMap of --configmap has existed once")
	flags.BoolVar(&f.Passthrough, "enable-ssl-passthrough", false, "pass TLS connections through to Services for hosts with the annotation ssl-passthrough")
}

// webPorts returns the ports that no TCP or UDP service can use.
func webPorts(http, https int) []translate.ReservedPort {
	return []translate.ReservedPort{{Number: http, Use: "--http-port"}, {Number: https, Use: "--https-port"}}
}

// errRequiredUnnamed is the error for --require-configmap without --configmap.
var errRequiredUnnamed = errors.New("--require-configmap: want the name of the ConfigMap in --configmap (got none)")

// options checks the values and returns them for package translate.
func (f *translateFlags) options() (translate.Options, error) {
	o := f.Options
	o.ManifestMode = true
	if len(validation.IsDNS1123Subdomain(f.AnnotationsPrefix)) > 0 {
		return o, fmt.Errorf("--annotations-prefix: want a DNS subdomain such as nginx.ingress.kubernetes.io (got %q)", f.AnnotationsPrefix)
	}
	if len(f.IngressClasses) == 0 || slices.Contains(f.IngressClasses, "") {
		return o, fmt.Errorf("--ingress-class: want names of classes, separated by commas (got %q)", strings.Join(f.IngressClasses, ","))
	}
	if f.ControllerClass == "" {
		return o, errors.New("--controller-class: want the spec.controller of an IngressClass, such as k8s.io/ingress-nginx (got nothing)")
	}
	if err := f.validateHealthPath(); err != nil {
		return o, err
	}
	for _, reference := range []struct {
		flag, value string
		into        *snapshot.Name
	}{
		{"configmap", f.configMap, &o.ConfigMap},
		{"default-backend-service", f.defaultBackend, &o.DefaultBackend},
		{"default-ssl-certificate", f.defaultCertificate, &o.DefaultCertificate},
		{"named-snippets", f.namedSnippets, &o.NamedSnippets},
		{"tcp-services-configmap", f.tcpServices, &o.TCPServices},
		{"udp-services-configmap", f.udpServices, &o.UDPServices},
	} {
		if reference.value == "" {
			continue
		}
		name, err := snapshot.ParseName(reference.value)
		if err != nil {
			return o, fmt.Errorf("--%s: want NAMESPACE/NAME (got %q)", reference.flag, reference.value)
		}
		*reference.into = name
	}
	return o, nil
}
