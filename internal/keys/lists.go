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

// Items returns the items of a list that commas separate, without the space around them and
// without empty ones. All such lists are read by it.
func Items(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// printableItems returns the items of a list in which no item has a control character.
func printableItems(text string) ([]string, error) {
	items := Items(text)
	if !slices.ContainsFunc(items, func(item string) bool { return !printable(item) }) {
		return items, nil
	}
	return nil, errControl
}

// errNoItem is the error about a list that must have an item.
var errNoItem = &specific{"it has no item"}

// withoutEmptyItems returns a list as it is written, unless it has empty items.
func withoutEmptyItems(text string) string {
	items := Items(text)
	if strings.Count(text, ",") == len(items)-1 {
		return text
	}
	return strings.Join(items, ", ")
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
// invalid item makes the whole list invalid, and so does a list without any item, so that a
// mistake never opens a protected path. 255.255.255.255 is invalid, because no client has
// it and nginx cannot parse it.
func (c *CIDRs) UnmarshalText(text []byte) error {
	var list []string
	for _, item := range Items(string(text)) {
		network, err := parseNetwork(item)
		if err != nil {
			return err
		}
		if network == broadcast || network == broadcast+"/32" {
			return errors.New("the address of nobody")
		}
		list = append(list, network)
	}
	if len(list) == 0 {
		return errNoItem
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

// HeaderNames is a list of header names separated by commas, as written but for items that are
// empty or not valid, because it is the value of a header itself.
type HeaderNames string

// An item can be "*", which means every header in some answers.
var headerNamesPattern = regexp.MustCompile(`^` + headerItem + `(?: *, *` + headerItem + `)*$`)

const headerItem = `(?:` + syntax.HeaderLetter + `+|\*)`

// UnmarshalText accepts letters, digits, - and _ in each name. It drops invalid items.
func (h *HeaderNames) UnmarshalText(text []byte) error {
	list, err := validItems(string(text), headerNamesPattern)
	*h = HeaderNames(list)
	return err
}

// Methods is a list of HTTP methods separated by commas, as written but for items that are empty
// or not valid.
type Methods string

var methodsPattern = regexp.MustCompile(`^[A-Za-z]+(?:,? ?[A-Za-z]+)*$`)

// UnmarshalText accepts words of letters, separated by a comma, a space or both. It drops invalid
// items, unless one of them stands for all methods: then it rejects the list.
func (m *Methods) UnmarshalText(text []byte) error {
	list, err := validItems(string(text), methodsPattern)
	if slices.Contains(Items(string(text)), "*") {
		return errEveryMethod
	}
	*m = Methods(list)
	return err
}

var errEveryMethod = &specific{"want each method by its name"}

// validItems returns a list as it is written if a pattern matches it without its empty items,
// else the items that it matches.
func validItems(text string, pattern *regexp.Regexp) (string, error) {
	list := withoutEmptyItems(text)
	if pattern.MatchString(list) {
		return list, nil
	}
	var valid, bad []string
	for _, item := range Items(text) {
		if pattern.MatchString(item) {
			valid = append(valid, item)
		} else {
			bad = append(bad, item)
		}
	}
	rest := strings.Join(valid, ", ")
	switch {
	case len(bad) > 0:
		return rest, &partlyValid{bad: strings.Join(bad, ", "), rest: rest}
	case rest == "":
		return "", errNoItem
	}
	return rest, nil
}
