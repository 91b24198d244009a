package keys

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// commaList splits at commas, trims each item and drops empty ones.
func commaList(text string) ([]string, error) {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if !printable(item) {
			return nil, errControl
		}
		if item != "" {
			items = append(items, item)
		}
	}
	return items, nil
}

// Words is a list separated by white space, without repetitions.
type Words []string

// maxWords is more than any key needs.
const maxWords = 64

// UnmarshalText accepts at most 64 different words of printable characters.
func (w *Words) UnmarshalText(text []byte) error {
	var words []string
	for _, word := range strings.Fields(string(text)) {
		if !printable(word) {
			return errControl
		}
		if slices.Contains(words, word) {
			continue
		}
		if len(words) == maxWords {
			return fmt.Errorf("more than %d words", maxWords)
		}
		words = append(words, word)
	}
	*w = words
	return nil
}

// CIDRs is a list of addresses and networks, sorted as texts and without
// repetitions. A network is written with its host bits zero.
type CIDRs []string

// UnmarshalText accepts IPv4 and IPv6 addresses and networks separated by commas. One
// invalid item makes the whole list invalid, and so does a list without items, so that a
// mistake never opens a protected path. 255.255.255.255 is invalid, because no client has
// it and nginx cannot parse it.
func (c *CIDRs) UnmarshalText(text []byte) error {
	var list []string
	for item := range strings.SplitSeq(string(text), ",") {
		network, err := parseNetwork(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		if network == broadcast || network == broadcast+"/32" {
			return errors.New("the address of nobody")
		}
		list = append(list, network)
	}
	slices.Sort(list)
	*c = slices.Compact(list)
	return nil
}

// broadcast is the result of nginx's parser for an invalid address.
// Source: ngx_ptocidr in nginx's src/core/ngx_inet.c.
const broadcast = "255.255.255.255"

// parseNetwork returns the canonical form. An IPv4 address in IPv6 notation becomes IPv4,
// because nginx compares such a client with its IPv4 rules.
func parseNetwork(item string) (string, error) {
	if !strings.Contains(item, "/") {
		address, err := netip.ParseAddr(item)
		if err != nil {
			return "", err
		}
		if address.Zone() != "" {
			return "", errors.New("an address with a zone")
		}
		return address.Unmap().String(), nil
	}
	network, err := netip.ParsePrefix(item)
	if err != nil {
		return "", err
	}
	if network.Addr().Is4In6() && network.Bits() >= 96 {
		network = netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
	}
	return network.Masked().String(), nil
}

// HeaderNames is a list of header names separated by commas, unchanged, because it is the
// value of a header itself.
type HeaderNames string

// An item can be "*", which means every header in some answers.
var headerNamesPattern = regexp.MustCompile(`^(?:` + syntax.HeaderLetter + `+|\*)(?: *, *(?:` + syntax.HeaderLetter + `+|\*))*$`)

// UnmarshalText accepts letters, digits, - and _ in each name.
func (h *HeaderNames) UnmarshalText(text []byte) error {
	if !headerNamesPattern.Match(text) {
		return fmt.Errorf("%q is not a list of header names", text)
	}
	*h = HeaderNames(text)
	return nil
}

// Methods is a list of HTTP methods separated by commas, unchanged.
type Methods string

var methodsPattern = regexp.MustCompile(`^[A-Za-z]+(?:,? ?[A-Za-z]+)*$`)

// UnmarshalText accepts words of letters, separated by a comma, a space or both.
func (m *Methods) UnmarshalText(text []byte) error {
	if !methodsPattern.Match(text) {
		return fmt.Errorf("%q is not a list of methods", text)
	}
	*m = Methods(text)
	return nil
}
