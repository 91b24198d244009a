package decode

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	names "k8s.io/apimachinery/pkg/util/validation"
)

const wantKey = `a key of at most 253 letters, digits, "-", "_" and "."`

// checkSecret merges stringData into data, as the API server does, and checks the keys.
// Its faults contain no value.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/secret-v1/
func checkSecret(secret *corev1.Secret) []fault {
	faults := append(checkKeys("data", secret.Data), checkKeys("stringData", secret.StringData)...)
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = make(map[string][]byte, len(secret.StringData))
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	return faults
}

// checkConfigMap checks the keys. A key must not be in both data and binaryData.
func checkConfigMap(cm *corev1.ConfigMap) []fault {
	faults := append(checkKeys("data", cm.Data), checkKeys("binaryData", cm.BinaryData)...)
	for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		if _, twice := cm.Data[key]; twice {
			faults = append(faults, fault{entry("binaryData", key), "want a key that is not in data too (got it in both)"})
		}
	}
	return faults
}

func checkKeys[V any](field string, data map[string]V) []fault {
	var bad []string
	for key := range data {
		if len(names.IsConfigMapKey(key)) > 0 {
			bad = append(bad, key)
		}
	}
	slices.Sort(bad)
	var faults []fault
	for _, key := range bad {
		faults = append(faults, wrong(entry(field, key), wantKey, key))
	}
	return faults
}

// checkNamespace checks that the name can be the namespace of an object.
func checkNamespace(namespace *corev1.Namespace) []fault { return checkLabelName(namespace.Name) }
