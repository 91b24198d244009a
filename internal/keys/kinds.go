package keys

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// kind is what the reference says of a type of values.
type kind struct {
	// name is short, such as "size". A type without one cannot be read.
	name string
	// valid says what would be valid, to follow "want ".
	valid string
	// edges are texts at the edges of what is accepted.
	edges []string
}

var (
	anyBool   = kind{"bool", `"true" or "false"`, []string{"true", "false"}}
	anyNumber = kind{"int", wholeNumber, []string{strconv.Itoa(math.MinInt), strconv.Itoa(math.MaxInt)}}
)

// kinds are those of the types of this package. Each has UnmarshalText.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[Optional[bool]](): anyBool,
	reflect.TypeFor[Optional[int]]():  anyNumber,
	reflect.TypeFor[Auto]():           {"int or auto", `"auto" or a whole number from 1 to 1024`, []string{"auto", "1", "1024"}},
	reflect.TypeFor[Duration]():       {"duration", `a time such as "30s", "10m" or "1h"`, []string{"0", "10y"}},
	reflect.TypeFor[Size]():           {"size", `a size such as "512", "8k", "10m" or "1g"`, []string{"0", "1048576g"}},
	reflect.TypeFor[Buffers]():        {"number and size", `a number from 1 to 1024 and a size from 512 to 1g, such as "4 8k"`, []string{"1 512", "1024 1g"}},
	reflect.TypeFor[Risk]():           {"risk", `"Low", "Medium", "High" or "Critical"`, []string{"Low", "Critical"}},
	reflect.TypeFor[Words]():          {"words", "words separated by spaces", []string{"w0", mostWords()}},
	reflect.TypeFor[Methods]():        {"method list", `HTTP methods separated by commas, such as "GET, PUT"`, []string{"a", "GET PUT,POST"}},
	reflect.TypeFor[HeaderNames]():    {"header list", `names of headers separated by commas, such as "Content-Type, X-Request-ID"`, []string{"*", "_"}},
	reflect.TypeFor[CIDRs](): {"cidr list", `IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32"`,
		[]string{"0.0.0.0/0", "::/0", "255.255.255.254", "::ffff:127.0.0.1"}},
	reflect.TypeFor[Origins](): {"origin list", `"*" or origins with their scheme separated by commas, such as "https://example.com, https://*.example.com:8443"`,
		[]string{"*", "null", "https://*.a:65535", "a+b-c.1://[::1]:1"}},
	reflect.TypeFor[ServerNames](): {"server names", `server names separated by commas, such as "www.example.com, *.example.org, ~^api[0-9]+\.example\.net$"`,
		[]string{strings.Repeat("n", maxServerName), "*._", "_.*", "~" + strings.Repeat("x", maxServerNamePattern)}},
	reflect.TypeFor[Dictionaries](): {"names and sizes", `certificate_data and configuration_data, each with a size from 1m to 1g, such as "certificate_data: 128m, configuration_data: 64m"`,
		[]string{"certificate_data: 1, configuration_data: 1024k", "certificate_data: 1g, configuration_data: 1024, balancer_ewma: 10m"}},
	reflect.TypeFor[Snippet](): {"snippet", `directives of nginx, each with its ";" and each block with its "}", that reach nothing outside of the location`,
		[]string{"# nothing", `set $braces "}{";`, "if ($request_method = TRACE) { return 405; }"}},
}

// kindOf gives the kind of a type, the zero value for one that cannot be read.
func kindOf(t reflect.Type) kind {
	if k, ok := kinds[t]; ok || reflect.PointerTo(t).Implements(unmarshaler) {
		return k
	}
	switch {
	case t.Kind() == reflect.String:
		return kind{name: "string", valid: "one line of text"}
	case t.Kind() == reflect.Bool:
		return anyBool
	case t.Kind() == reflect.Int:
		return anyNumber
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return kind{name: "list", valid: "a list separated by commas"}
	}
	return kind{}
}

// mostWords is as many words as there may be.
func mostWords() string {
	words := make([]string, maxWords)
	for i := range words {
		words[i] = "w" + strconv.Itoa(i)
	}
	return strings.Join(words, " ")
}
