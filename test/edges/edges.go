// Package edges returns values at the limits of what an annotation or a setting accepts.
// It takes the description of the key, and uses the type of its field and the rules of
// the tag validate. Golden cases show that nginx accepts each value.
package edges

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sluice/internal/keys"
)

// Of returns values at the limits: each word of a short list of words, both ends of a
// range, and the values in the tables below. If the key is a list, a value can be one
// item. Only accepted values are returned.
func Of(doc keys.Doc) []string {
	key := cacheKey{doc.Field.Type, doc.Field.Tag}
	if known, ok := cache.Load(key); ok {
		return known.([]string)
	}
	whole, each := keys.SplitRules(doc.Field.Tag.Get("validate"))
	all := slices.Concat(ends(words(whole)), words(each), ofTypes[doc.Field.Type], kindEdges(doc.Field.Type), limits(doc.Field.Type, whole))
	var accepted []string
	for _, value := range all {
		if !slices.Contains(accepted, value) && Accepts(doc, value) {
			accepted = append(accepted, value)
		}
	}
	cache.Store(key, accepted)
	return accepted
}

// OfRule returns the values of a rule of package keys.
func OfRule(name string) []string { return ofRules[name] }

type cacheKey struct {
	of  reflect.Type
	tag reflect.StructTag
}

var cache sync.Map // cacheKey -> []string

// Accepts reports whether a value of the key is valid.
func Accepts(doc keys.Doc, value string) bool {
	alone := reflect.New(reflect.StructOf([]reflect.StructField{{Name: doc.Field.Name, Type: doc.Field.Type, Tag: doc.Field.Tag}}))
	lookup := func(key string) (string, bool) { return value, key == doc.Key }
	return len(keys.Decode(alone.Interface(), lookup, nil)) == 0
}

// fewWords is the maximum length of a list of words of which each is an edge.
const fewWords = 4

// ends returns the first and the last of many words.
func ends(words []string) []string {
	if len(words) > fewWords {
		return []string{words[0], words[len(words)-1]}
	}
	return words
}

// words returns the words of oneof, and the values of our own rules.
func words(rules map[string]string) []string {
	values := strings.Fields(rules["oneof"] + " " + rules["oneofci"])
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		values = append(values, ofRules[name]...)
	}
	return values
}

// limits returns both ends of a range; for a text these are texts of that length.
func limits(t reflect.Type, rules map[string]string) []string {
	var values []string
	if rules["ne"] == "0" {
		values = append(values, "1")
	}
	for _, name := range []string{"min", "max"} {
		end, ok := rules[name]
		n, _ := strconv.ParseInt(end, 10, 64)
		switch {
		case !ok || t.Kind() == reflect.Slice: // a number of items: the words of the rule have lists
		case t == reflect.TypeFor[keys.Duration]():
			values = append(values, end+"s")
		case t == reflect.TypeFor[keys.Size]() && n > 0 && n%(1<<30) == 0:
			values = append(values, strconv.FormatInt(n>>30, 10)+"g")
		case t == reflect.TypeFor[keys.Size]():
			values = append(values, string(keys.SizeOf(n)))
		case t.Kind() == reflect.String && t != reflect.TypeFor[keys.Optional[int]]():
			values = append(values, strings.Repeat("x", int(n)))
		default:
			values = append(values, end)
		}
	}
	return values
}

var (
	bools   = []string{"true", "false"}
	numbers = []string{strconv.Itoa(math.MinInt), strconv.Itoa(math.MaxInt)}
)

// kindEdges returns the values for a type that has none in ofTypes.
func kindEdges(t reflect.Type) []string {
	_, known := ofTypes[t]
	switch {
	case known:
	case t.Kind() == reflect.Bool:
		return bools
	case t.Kind() == reflect.Int:
		return numbers
	}
	return nil
}

// manyWords returns as many words as a list of words can have.
func manyWords() string {
	words := make([]string, 64)
	for i := range words {
		words[i] = "w" + strconv.Itoa(i)
	}
	return strings.Join(words, " ")
}

// authority is a certificate.
const authority = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUdamttQ+cECiRqESDW/zB4ubiV5AwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHY2xpZW50czAgFw0yNjExMjMxODQ1MzRaGA8yMTI1MDYxNzE4
NDUzNFowEjEQMA4GA1UEAwwHY2xpZW50czBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABCI0ZFBMBU/EtS8vbOoueY0EfaeSHRoAOBvNc9q6XJ73lXMd53lHR7x2qRhx
/9FAYgjfne02Zs/nugLhZIfThvyjUzBRMB0GA1UdDgQWBBTHCuc8AE1eHsvAkyL9
ieWcVUJrLjAfBgNVHSMEGDAWgBTHCuc8AE1eHsvAkyL9ieWcVUJrLjAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCRdENW0otKvkbV9RW+G1EEtRzB
FUDa+laRO/8LYxelLQIgbW2isoPdtkXOYRXK1pjNzqCSavoUHb1pjLBZ9y8O/Sk=
-----END CERTIFICATE-----`

// ofTypes are the values of the types of package keys.
var ofTypes = map[reflect.Type][]string{
	reflect.TypeFor[keys.Optional[bool]]():  bools,
	reflect.TypeFor[keys.Optional[int]]():   numbers,
	reflect.TypeFor[keys.Auto]():            {"auto", "1", "1024"},
	reflect.TypeFor[keys.Duration]():        {"0", "10y"},
	reflect.TypeFor[keys.Size]():            {"0", "1048576g"},
	reflect.TypeFor[keys.Buffers]():         {"1 512", "1024 1g"},
	reflect.TypeFor[keys.Risk]():            {"Low", "Critical"},
	reflect.TypeFor[keys.Words]():           {"w0", manyWords()},
	reflect.TypeFor[keys.LogShares]():       {"100=0%", "5xx=100%", "599=0.01%"},
	reflect.TypeFor[keys.Methods]():         {"a", "GET PUT,POST"},
	reflect.TypeFor[keys.HeaderNames]():     {"*", "_"},
	reflect.TypeFor[keys.CIDRs]():           {"0.0.0.0/0", "::/0", "255.255.255.254", "::ffff:127.0.0.1"},
	reflect.TypeFor[keys.Origins]():         {"*", "null", "https://*.a:65535", "a+b-c.1://[::1]:1"},
	reflect.TypeFor[keys.ServerNames]():     {strings.Repeat("n", 253), "*._", "_.*", "~" + strings.Repeat("x", 500)},
	reflect.TypeFor[keys.Dictionaries]():    {"certificate_data: 1, configuration_data: 1024k", "certificate_data: 1g, configuration_data: 1024, balancer_ewma: 10m"},
	reflect.TypeFor[keys.ResponseHeaders](): {"-:", strings.Repeat("_", 46) + ": " + strings.Repeat(`"`, 1900)},
	reflect.TypeFor[keys.RequestHeaders]():  {"-:", strings.Repeat("X", 46) + ": " + strings.Repeat(`"`, 1900), "X-Client: ${ssl_client_s_dn} $http_a$cookie_b$arg_c"},
	reflect.TypeFor[keys.Replacements]():    {"a =>", strings.Repeat(`"`, 1900) + " => " + strings.Repeat("$", 118)},
	reflect.TypeFor[keys.AnnotationLines](): {"proxy-read-timeout: 1", "sluice.io/cookie-flags: a secure\nsluice.io/cookie-flags: b secure\nproxy-body-size:"},
	reflect.TypeFor[keys.CookieFlags]():     {"* secure", strings.Repeat("n", 100) + " nosecure nohttponly nosamesite", "a SameSite=None HttpOnly Secure"},
	reflect.TypeFor[keys.BlockedTexts]():    {"-", strings.Repeat("x", 500), "~x", "~*" + strings.Repeat("x", 500)},
	reflect.TypeFor[keys.DeniedPaths]():     {"/", "/* 404", "/" + strings.Repeat("a", 499), "~" + strings.Repeat("x", 500)},
	reflect.TypeFor[keys.Redirects]():       {"/a /", "/a/* https://b.example:1/* 308", "/a/* /?a=b,%20c 303"},
	reflect.TypeFor[keys.StatusPairs]():     {"400=599", "498 500 = 400"},
	reflect.TypeFor[keys.HeaderMatches]():   {"-: a", "X: ~(?i)(?:a|b)"},
	reflect.TypeFor[keys.QueryMatches]():    {"~: a", "a[]: ~(?i)(?:a|b)"},
	reflect.TypeFor[keys.CacheTimes]():      {"0s", "999y", "100 599 1s, 1M"},
	reflect.TypeFor[keys.Authorities]():     {authority},
	reflect.TypeFor[keys.TicketKey]():       {strings.Repeat("A", 64), strings.Repeat("B", 106) + "Y="},
	reflect.TypeFor[keys.StatusRange]():     {"100", "599", "100-599", "204-204"},
	reflect.TypeFor[keys.QuestionSnippet](): {"# nothing", `proxy_set_header X-Braces "}{";`, "if ($request_method = TRACE) { return 405; }"},
	reflect.TypeFor[keys.ServerSnippet]():   {"# nothing", `set $braces "}{";`, "if ($request_method = TRACE) { return 405; }", "location /all { satisfy any; allow all; return 200; }"},
	reflect.TypeFor[keys.StreamSnippet]():   {"# nothing", `server { listen 19003 udp; return x; } server { listen 19003; return x; }`, `server { listen [::1]:19004; return "}{"; }`},
	reflect.TypeFor[keys.GlobalSnippet]():   {"# nothing"},
	reflect.TypeFor[keys.MainSnippet]():     {"# nothing", "env TZ;"},
	reflect.TypeFor[keys.SnippetUses]():     {"tuning", `block-agents agent="" status=400`, `header value=""; header value="" always=false`},
	reflect.TypeFor[keys.SecRules]():        {"SecRuleEngine On", `SecRule ARGS:a "@rx [\"'\\}{;$]" "id:1,phase:2,deny,msg:'}{;#'"`, "SecRule ARGS:a \"@contains b\" \\\n  \"id:2,phase:1,pass,chain\"\nSecRule ARGS:c \"@streq d\" \"t:none,setvar:'tx.a=%{MATCHED_VAR}'\""},
	reflect.TypeFor[keys.Snippet]():         {"# nothing", `set $braces "}{";`, "if ($request_method = TRACE) { return 405; }"},
}

// ofRules are the values of the rules of package keys.
var ofRules = map[string][]string{
	"from_to":            {"/app/ /", "app.internal shop.example"},
	"url_text":           {"/", "http://app.internal:8080/a~b?c=d&e,f_g-h"},
	"rewrite_target":     {"/", "/~-._0:/$1$9$uri"},
	"secret_ref":         {"n/s", strings.Repeat("n", 63) + "/" + strings.Repeat("s", 253)},
	"file_name":          {"i", strings.Repeat("i", 196) + ".-_0"},
	"secret_name":        {"s", strings.Repeat("n", 63) + "/" + strings.Repeat("s", 253)},
	"configmap_ref":      {"n/c", strings.Repeat("n", 63) + "/" + strings.Repeat("c", 253)},
	"ingress_ref":        {"n/i", strings.Repeat("n", 63) + "/" + strings.Repeat("i", 253)},
	"configmap_name":     {"c", strings.Repeat("n", 63) + "/" + strings.Repeat("c", 253)},
	"realm":              {"!", strings.Repeat("~", 200)},
	"error_status":       {"400", "498", "500", "599"},
	"answer_status":      {"300", "498", "500", "599"},
	"service_name":       {"s", strings.Repeat("s", 63)},
	"namespace":          {"n", strings.Repeat("n", 63)},
	"server_name":        {"0", strings.Repeat("n", 253)},
	"ciphers":            {"ALL", "HIGH:!aNULL:-PSK:+SHA1:@SECLEVEL=1"},
	"error_page":         {"/", "@a", "http://a", "https://a:65535/a.html"},
	"subject_pattern":    {"CN=a", "CN=" + strings.Repeat("n", 500)},
	"curves":             {"auto", "X25519:prime256v1"},
	"redirect_url":       {"/", "https://~-._0:1/a,b?c=d&e", "$scheme://${host}$uri$is_args$args"},
	"http_url":           {"http://a", "https://~-._0:1/a,b?c=d&e", "${scheme}://a.$host$request_uri"},
	"mirror_target":      {"http://a", "https://a.b-c.example:65535/~-._0:1/a,b?c=d&e", "http://[2001:db8::1]:1${uri}$is_args$args", "http://10.0.0.1$request_uri"},
	"auth_url":           {"http://a", "https://a.b-c.example:65535/~-._0:1/a,b?c=d&e;%20+@", "http://[2001:db8::1]:1?u=$escaped_request_uri", "https://$host/oauth2/auth", "http://${host}:4180/${scheme}/$cookie_A_1$http_x"},
	"auth_text":          {"/", "https://$host/-._~:,?&=;%+@$request_uri"},
	"cache_key":          {"-", "A0 -._~:/,;=|$http_authorization${cookie_a}$remote_user$uri$args$ssl_client_s_dn"},
	"signin_url":         {"/a", "http://a", "https://$host/-._~:,?&=;%+@#/?u=$escaped_request_uri", "$scheme://a", "${scheme}://a"},
	"own_signin_url":     {"/a", "http://a", "https://$host/-._~:,?&=;%+@#/?u=$escaped_request_uri", "$scheme://a", "${scheme}://a"},
	"parameter_name":     {"-", strings.Repeat("A", 100)},
	"path_and_variables": {"/a", "/~-._0:/$host${request_uri}$arg_A_1"},
	"host_and_variables": {"a", "[::1]:80_-$host${http_x}$scheme"},
	"expires":            {"max", "epoch", "off", "0", "-1", "999y999M", "999999999s"},
	"cache_directive":    {"public", "private,no-store , no-cache, no-transform, must-revalidate, proxy-revalidate, must-understand, immutable, max-age=0, s-maxage=9999999999, stale-while-revalidate=1, stale-if-error=1"},
	"fallback_path":      {"/", "/~-._0/index.html"},
	"header_name":        {"-", strings.Repeat("A", 100)},
	"any_header_name":    {"-", strings.Repeat("A", 100), "x_under"},
	"cookie_name":        {"-", strings.Repeat("A", 100)},
	"limit_key":          {"address", "host", "header:-", "header:" + strings.Repeat("A", 100), "cookie:-", "cookie:A._~" + strings.Repeat("A", 96)},
	"cookie_path":        {"/", "/~-._0:/?a=b&c"},
	"canary_value":       {"a", "A-0._~/:"},
	"canary_pattern":     {"a", `^(A-0|.)[_~/:]{1}\.*(b+)?$`, "a=&b"},
	"hash_key":           {"a", "A-0_", "$host", "${request_uri}_a-$remote_addr$arg_x${http_y}$cookie_z", "$ssl_client_fingerprint"},
	"response_header":    {"_", strings.Repeat("A", 46), strings.Repeat("A", 46) + strings.Repeat(", X", 19)},
	"check_path":         {"/", "/-._~/:,;?&=+@%41", "/" + strings.Repeat("a", 499)},
	"path_prefix":        {"/", "/é{$}"},
	"media_type":         {"*", "application/" + strings.Repeat("a", 34)},
	"answer_type":        {"a/b", "application/" + strings.Repeat("a", 88)},
	"cpu_masks":          {"auto", "auto 01", "1 01"},
	"access_log_file":    {"/dev/stdout", "/dev/null", "/var/log/nginx/" + strings.Repeat("a", 240)},
	"error_log_file":     {"/dev/stderr", "/dev/stdout", "/dev/null", "/var/log/nginx/" + strings.Repeat("a", 240)},
	"access_log_param":   {"buffer=1", "buffer=99m", "flush=1ms", "flush=99999h", "gzip", "gzip=9"},
	"collector_host":     {"0", "collector.monitoring.svc", "::1", "192.0.2.1"},
	"ratio":              {"0", "1", "0.000000000001", "1.000000000000"},
	"header_text":        {"a", "a -~"},
	"span_name":          {"a", strings.Repeat("n", 200), "HTTP $request_method $service_name $uri", "${host}"},
	"transaction_id":     {"a", "A_0-z", "$host-${request_id}"},
	"operation_name":     {"a", "A_0-z"},
	"log_url":            {"/", "/" + strings.Repeat("a", 1999), "~x", "~*^/(?:a|b)$"},
	"address":            {"0.0.0.0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
}
