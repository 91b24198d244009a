package keys

import (
	"encoding"
	"fmt"
	"strings"
	"testing"
	"time"
)

// unmarshal gives a value as it prints, or "refused".
func unmarshal[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](text string) string {
	var v T
	if P(&v).UnmarshalText([]byte(text)) != nil {
		return "refused"
	}
	return fmt.Sprint(v)
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		read func(string) string
		want map[string]string
	}{
		"Size": {unmarshal[Size], map[string]string{
			"0": "0", "0m": "0", "512": "512", "8k": "8k", "8K": "8k", "1024k": "1m", "1g": "1024m", "10 m": "10m", "100b": "100", "2048B": "2k",
			"1048576g": "1073741824m", "1048577g": "refused", "999999999999999g": "refused", "": "refused", "k": "refused", "-1": "refused", "1t": "refused", "1.5m": "refused", "1kk": "refused",
		}},
		"Duration": {unmarshal[Duration], map[string]string{
			"240s": "240s", "240": "240s", "1h": "3600s", "1h 30m": "5400s", "1h30m": "5400s", "1d": "86400s", "1M": "2592000s", "10y": "315360000s",
			"11y": "refused", "30m1h": "refused", "1ms": "refused", "": "refused", "-1s": "refused", "5 minutes": "refused", "999999999y": "refused",
		}},
		"Optional[int]":  {unmarshal[Optional[int]], map[string]string{"0": "0", "007": "7", "+5": "5", "-1": "-1", "1.5": "refused", "": "refused", "1e3": "refused"}},
		"Optional[bool]": {unmarshal[Optional[bool]], map[string]string{"false": "false", "F": "false", "0": "false", "true": "true", "1": "true", "": "refused", "yes": "refused"}},
		"Auto":           {unmarshal[Auto], map[string]string{"auto": "0", "4": "4", "0": "refused", "-1": "refused", "1025": "refused", "AUTO": "refused"}},
		"CIDRs": {unmarshal[CIDRs], map[string]string{
			" 10.255.0.2 , 192.0.2.1 ": "[10.255.0.2 192.0.2.1]", "10.1.1.1/8": "[10.0.0.0/8]", "2001:DB8::1/32,10.0.0.1": "[10.0.0.1 2001:db8::/32]",
			"::ffff:10.0.0.1": "[10.0.0.1]", "::ffff:10.1.0.0/104": "[10.0.0.0/8]", "1.1.1.1,1.1.1.1": "[1.1.1.1]",
			"10.0.0.1,": "[10.0.0.1]", ",, 10.0.0.1,\n,::1": "[10.0.0.1 ::1]", ",": "refused", " , ": "refused", "": "refused",
			"not-a-cidr": "refused", "10.0.0.1 10.0.0.2,": "refused", "10.0.0.1,x": "refused", "10.0.0.0/33": "refused", "fe80::1%eth0": "refused", "010.0.0.1": "refused", "all": "refused", "255.255.255.255": "refused", "::1,255.255.255.255/32": "refused", "255.255.255.255/31": "[255.255.255.254/31]", "1.2.3.4;allow all": "refused",
		}},
		"Origins": {unmarshal[Origins], map[string]string{
			"*": "[*]", "https://a.example, *": "[*]", "https://B.example,https://a.example": "[https://a.example https://b.example]",
			"https://*.two.example.com:8443": "[https://*.two.example.com:8443]", "null": "[null]", "http://[::1]:8080": "[http://[::1]:8080]", "http://localhost": "[http://localhost]",
			"a.example": "refused", "https://a.example/": "refused", "https://a.*.example": "refused", "https://*": "refused", "https://a.example:0": "refused", "https://a.example:99999": "refused",
			"https://a..example": "refused", "https://a.example,": "[https://a.example]", ",": "refused", "https://a.example;": "refused", "https://a.example\" x": "refused", "": "refused", "https://(a|b)": "refused",
		}},
		"HeaderNames": {unmarshal[HeaderNames], map[string]string{
			"X-Foo, Content-Type": "X-Foo, Content-Type", "DNT,Keep-Alive": "DNT,Keep-Alive", "*": "*", "X Y": "refused", "X-Foo,": "X-Foo", ",X-Foo,,X-Bar": "X-Foo, X-Bar", ",": "refused", "X\nY": "refused", "X;Y": "refused",
		}},
		"Methods": {unmarshal[Methods], map[string]string{
			"PUT, GET": "PUT, GET", "GET": "GET", "GET,PUT": "GET,PUT", "GET PUT": "GET PUT", "GET, PUT,": "GET, PUT", ",": "refused", "GET, 1": "refused", "GET\"": "refused", "*": "refused",
		}},
		"ServerNames":  {unmarshal[ServerNames], map[string]string{"a.example, ,b.example,": "[a.example b.example]", ",": "[]"}},
		"CacheTimes":   {unmarshal[CacheTimes], map[string]string{"200 5m,": "[{[200] 5m}]", ",": "refused"}},
		"BlockedTexts": {unmarshal[BlockedTexts], map[string]string{"curl,": "[curl]", ",": "refused"}},
		"Dictionaries": {unmarshal[Dictionaries], map[string]string{"certificate_data: 64m,": "{ 64m}"}},
		"LogShares": {unmarshal[LogShares], map[string]string{
			"2xx=1%": "[{2xx 1}]", "2xx=0.5%, 404=100%  3xx=0%": "[{2xx 0.5} {404 100} {3xx 0}]", "404=50%,": "[{404 50}]", "5xx=10%": "[{5xx 10}]", "200=20%": "[{200 20}]", "2xx=0.01%": "[{2xx 0.01}]",
			"2xx": "refused", "2xx=1": "refused", "2xx=101%": "refused", "2xx=0.001%": "refused", "6xx=1%": "refused", "2x=1%": "refused", "20x=1%": "refused", "2xx=1% 2xx=1%": "refused", "2xx=-1%": "refused", "2xx=1%;": "refused", "xxx=1%": "refused", "2xx=01%": "refused",
			"2xx=3%": "refused", "2xx=0.50%": "refused", "2xx=0.0%": "refused", "2xx=12.5%": "refused",
		}},
		"Words":   {unmarshal[Words], map[string]string{"a  b a": "[a b]", "a\x00": "refused", numbered(64): "[" + numbered(64) + "]", numbered(65): "refused"}},
		"Buffers": {unmarshal[Buffers], map[string]string{"4 8k": "{4 8k}", "0 8k": "refused", "4 0": "refused", "8k 4": "refused", "4 8k 1": "refused", "1025 1k": "refused", "1 512": "{1 512}", "1 511": "refused", "1024 1g": "{1024 1024m}", "1 1025m": "refused"}},
		"Risk":    {unmarshal[Risk], map[string]string{"low": "Low", "CRITICAL": "Critical", "": "refused", "high!": "refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for text, want := range test.want {
				if got := test.read(text); got != want {
					t.Errorf("%q: %s, want %s", text, got, want)
				}
			}
		})
	}
}

// numbered gives n different words.
func numbered(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	return strings.Join(words, " ")
}

func TestDurationTime(t *testing.T) {
	t.Parallel()
	for d, want := range map[Duration]time.Duration{"240s": 4 * time.Minute, "": 0} {
		if got := d.Time(); got != want {
			t.Errorf("%q: %v, want %v", d, got, want)
		}
	}
}

// FuzzDecode proves that no text makes Decode panic, that what it accepts can
// neither end a word nor a line, and that reading an accepted value again gives
// the same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "on", "8k", "10.0.0.0/8,::1", "https://*.a.example:1", "GET, PUT", "1h 30m", "4 8k", "/$1", "a/b", "\r\n\"';{}", "*", "auto"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, doc := range Describe(sample{}) {
			got, faults := decode(map[string]string{doc.Key: text})
			printed := printedOf(got)
			for _, word := range printed {
				if strings.ContainsAny(word, "\r\n\x00\"'\\{};#") {
					t.Errorf("%s: %q is accepted and prints %q", doc.Key, text, word)
				}
			}
			if strings.ContainsAny(got.Any, "\r\n\x00") {
				t.Errorf("%s: %q is accepted with a line break", doc.Key, text)
			}
			again := printedOf(must(decode(map[string]string{doc.Key: printed[doc.Key]})))
			if len(faults) == 0 && printed[doc.Key] != "" && again[doc.Key] != printed[doc.Key] {
				t.Errorf("%s: %q becomes %q and then %q", doc.Key, text, printed[doc.Key], again[doc.Key])
			}
		}
	})
}

func must(s sample, _ []Fault) sample { return s }

// printedOf gives what becomes words of nginx.conf, by key.
func printedOf(s sample) map[string]string {
	return map[string]string{
		"word": s.Word, "target": s.Target, "secret": s.Secret, "name": s.Name, "cipher": s.Cipher, "curve": s.Curve, "proto": s.Proto,
		"count": fmt.Sprint(s.Count), "size": string(s.Size), "above": string(s.Above), "within": string(s.Within), "number": string(s.Number), "time": string(s.Time), "wait": string(s.Wait),
		"bufs": fmt.Sprintf("%d %s", s.Bufs.Number, s.Bufs.Size), "nets": strings.Join(s.Nets, ","), "origin": strings.Join(s.Origin, ","),
		"header": string(s.Header), "method": string(s.Method), "words": strings.Join(s.Words, " "), "risk": s.Group.Risk.String(),
	}
}
