package keys

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDictionaries(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Dictionaries{
		"certificate_data: 100, configuration_data:5M":     {"5m", "100m"},
		"certificate_data: 5,":                             {"", "5m"},
		"certificate_data:20480k":                          {"", "20m"},
		"balancer_ewma: 10, configuration_data : 1024":     {"1024m", ""},
		"configuration_data: 1024k, ocsp_response_cache:0": {"1m", ""},
	} {
		var got Dictionaries
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"certificate_data", "certificate_data: x", "certificate_data: 0", "certificate_data: 1023k", "certificate_data: 1025m", "my_dict: 5", "certificate_data: 5; x", "certificate_data: 5, 6"} {
		got := Dictionaries{Certificate: "7m"}
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		} else if diff := cmp.Diff(Dictionaries{Certificate: "7m"}, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
