package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// translateFlags are the flags that decide what is served; the names and
// defaults are those of ingress-nginx.
type translateFlags struct {
	// Options are the flags that are taken as they are. The others are names.
	translate.Options
	configMap          string
	defaultBackend     string
	defaultCertificate string
	tcpServices        string
	udpServices        string
}

func (f *translateFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.IngressClasses, "ingress-class", []string{"nginx"}, "names of the classes to serve, separated by commas")
	flags.StringVar(&f.ControllerClass, "controller-class", "k8s.io/ingress-nginx", "spec.controller of the IngressClass objects to serve")
	flags.BoolVar(&f.ClassByName, "ingress-class-by-name", false, "serve an IngressClass named as --ingress-class whatever its spec.controller")
	flags.BoolVar(&f.WithoutClass, "watch-ingress-without-class", false, "serve Ingresses that name no class, too")
	flags.BoolVar(&f.DisableCatchAll, "disable-catch-all", false, "leave out Ingresses that have a spec.defaultBackend")
	flags.StringVar(&f.AnnotationsPrefix, "annotations-prefix", "nginx.ingress.kubernetes.io", "prefix of the annotations that are read")
	flags.StringVar(&f.configMap, "configmap", "", "ConfigMap with the settings, as NAMESPACE/NAME")
	flags.StringVar(&f.defaultBackend, "default-backend-service", "", "Service that answers what no rule matches, as NAMESPACE/NAME; its first port is used")
	flags.StringVar(&f.defaultCertificate, "default-ssl-certificate", "", "Secret with the default certificate, as NAMESPACE/NAME; a self-signed one if empty")
	flags.StringVar(&f.tcpServices, "tcp-services-configmap", "", "ConfigMap with the TCP services, as NAMESPACE/NAME: a port as the key, NAMESPACE/SERVICE:PORT[:PROXY[:PROXY]] as the value")
	flags.StringVar(&f.udpServices, "udp-services-configmap", "", "ConfigMap with the UDP services, as NAMESPACE/NAME: a port as the key, NAMESPACE/SERVICE:PORT as the value")
	flags.BoolVar(&f.DisableExternalName, "disable-svc-external-name", false, "follow no Service of the type ExternalName: 503 is answered where one is named")
	flags.StringVar(&f.HealthPath, "health-check-path", "/healthz", "path of the liveness check; load balancers get 200 there on the ports for HTTP and HTTPS, too, for hosts that no rule has and for IP addresses")
	flags.BoolVar(&f.RequireConfigMap, "require-configmap", false, "answer 503 on every path, and do not be ready, until the ConfigMap of --configmap was there once")
	flags.BoolVar(&f.Passthrough, "enable-ssl-passthrough", false, "pass TLS connections to hosts with the annotation ssl-passthrough on as they are")
}

// webPorts are those that no TCP or UDP service can have, wherever Sluice runs.
func webPorts(http, https int) []translate.ReservedPort {
	return []translate.ReservedPort{{Number: http, Use: "--http-port"}, {Number: https, Use: "--https-port"}}
}

// errRequiredUnnamed is what a controller ends with.
var errRequiredUnnamed = errors.New("--require-configmap: want the name of the ConfigMap in --configmap (got none)")

// options checks the values and gives them to translate.
func (f *translateFlags) options() (translate.Options, error) {
	o := f.Options
	o.ManifestMode = true
	if f.AnnotationsPrefix == "" || strings.Contains(f.AnnotationsPrefix, "/") {
		return o, fmt.Errorf("--annotations-prefix: want a prefix such as nginx.ingress.kubernetes.io (got %q)", f.AnnotationsPrefix)
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
