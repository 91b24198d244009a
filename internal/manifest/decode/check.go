package decode

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	names "k8s.io/apimachinery/pkg/util/validation"
)

// The descriptions of valid values, which follow "want " in an error.
const (
	wantLabel     = `a name of lower-case letters, digits and "-", at most 63 characters`
	wantSubdomain = `a name of lower-case letters, digits, "-" and ".", at most 253 characters`
	wantHost      = `a DNS name such as shop.example.com or *.example.com, in lower case`
	wantPort      = "a port from 1 to 65535"
	wantPortName  = `a port name of at most 15 lower-case letters, digits and "-", with a letter`
	wantProtocol  = "TCP, UDP or SCTP"
)

// isLabel reports whether the value is a DNS label (RFC 1123).
func isLabel(value string) bool { return len(names.IsDNS1123Label(value)) == 0 }

// isSubdomain reports whether the value is a DNS name (RFC 1123).
func isSubdomain(value string) bool { return len(names.IsDNS1123Subdomain(value)) == 0 }

// isHost reports whether the value is a DNS name and no IP address. Its first label can
// be "*".
func isHost(value string) bool {
	if strings.HasPrefix(value, "*") {
		return len(names.IsWildcardDNS1123Subdomain(value)) == 0
	}
	_, err := netip.ParseAddr(value)
	return err != nil && isSubdomain(value)
}

func isPort(port int32) bool { return port >= 1 && port <= 65535 }

func isPortName(name string) bool { return len(names.IsValidPortName(name)) == 0 }

// checkMeta checks the metadata that all objects have.
// Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
func checkMeta(o metav1.Object, namespaced bool) []fault {
	var faults []fault
	switch name := o.GetName(); {
	case name == "":
		faults = append(faults, missing("name", wantSubdomain))
	case !isSubdomain(name):
		faults = append(faults, wrong("name", wantSubdomain, name))
	}
	namespace := o.GetNamespace()
	if namespaced && !isLabel(namespace) {
		faults = append(faults, wrong("namespace", wantLabel, namespace))
	}
	if !namespaced && namespace != "" {
		faults = append(faults, wrong("namespace", "none: the kind has no namespaces", namespace))
	}
	faults = append(faults, checkAnnotations(o.GetAnnotations())...)
	return within("metadata", faults)
}

// checkAnnotations checks keys and the total size.
func checkAnnotations(annotations map[string]string) []fault {
	const wantKey = `a key such as example.com/name: an optional DNS name and "/", then at most 63 letters, digits, "-", "_" and "."`
	var bad []string
	size := 0
	for key, value := range annotations {
		size += len(key) + len(value)
		if len(names.IsQualifiedName(strings.ToLower(key))) > 0 {
			bad = append(bad, key)
		}
	}
	slices.Sort(bad)
	var faults []fault
	for _, key := range bad {
		faults = append(faults, wrong(entry("annotations", key), wantKey, key))
	}
	if size > validation.TotalAnnotationSizeLimitB {
		want := "want at most " + strconv.Itoa(validation.TotalAnnotationSizeLimitB) + " bytes in keys and values together"
		faults = append(faults, fault{"annotations", want + " (got " + strconv.Itoa(size) + ")"})
	}
	return faults
}

// checkLabelName checks a name that must be a DNS label. checkMeta reports a name that
// is not even a subdomain.
func checkLabelName(name string) []fault {
	if isSubdomain(name) && !isLabel(name) {
		return []fault{wrong("metadata.name", wantLabel, name)}
	}
	return nil
}

// checkProtocol replaces an empty protocol with TCP.
func checkProtocol(protocol *corev1.Protocol) []fault {
	switch *protocol {
	case "":
		*protocol = corev1.ProtocolTCP
	case corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		return []fault{wrong("protocol", wantProtocol, string(*protocol))}
	}
	return nil
}

// checkPortNames checks the names of ports, which must be unique.
func checkPortNames(portNames []string) []fault {
	var faults []fault
	seen := make(map[string]bool, len(portNames))
	for i, name := range portNames {
		switch {
		case name != "" && !isLabel(name):
			faults = append(faults, item("ports", i, []fault{wrong("name", wantLabel, name)})...)
		case seen[name]:
			faults = append(faults, item("ports", i, []fault{wrong("name", "a name that no other port has", name)})...)
		}
		seen[name] = true
	}
	return faults
}

func checkPort(port int32) []fault {
	if isPort(port) {
		return nil
	}
	return []fault{{"port", "want " + wantPort + " (got " + strconv.Itoa(int(port)) + ")"}}
}
