package keys

import (
	"fmt"
	"slices"
	"strings"
)

// Dictionaries are the sizes of nginx's memory for endpoints and certificates. ""
// means no size.
type Dictionaries struct {
	Configuration, Certificate Size
}

// The smallest and largest size of a dictionary.
const (
	leastDictionary = 1 << 20
	mostDictionary  = 1 << 30
)

// idleDictionaries are dictionaries of ingress-nginx that Sluice does not have.
var idleDictionaries = []string{"balancer_ewma", "balancer_ewma_last_touched_at", "balancer_ewma_locks", "certificate_servers", "global_throttle_cache", "ocsp_response_cache"}

// UnmarshalText accepts "name: size" items, separated by commas. A size without a
// unit is in megabytes, as with ingress-nginx.
func (d *Dictionaries) UnmarshalText(text []byte) error {
	var read Dictionaries
	for _, item := range Items(string(text)) {
		name, value, _ := strings.Cut(item, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if value != "" && strings.Trim(value, "0123456789") == "" {
			value += "m"
		}
		var size Size
		if err := size.UnmarshalText([]byte(value)); err != nil {
			return err
		}
		switch {
		case slices.Contains(idleDictionaries, name):
			continue
		case size.Bytes() < leastDictionary || size.Bytes() > mostDictionary:
			return fmt.Errorf("%s is out of range", size)
		case name == "certificate_data":
			read.Certificate = size
		case name == "configuration_data":
			read.Configuration = size
		default:
			return fmt.Errorf("there is no dictionary %q", name)
		}
	}
	*d = read
	return nil
}
