package translate

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// splitUser splits a line. Text behind another colon is a comment.
func splitUser(line string) (user, hash string) {
	user, rest, _ := strings.Cut(line, ":")
	hash, _, _ = strings.Cut(rest, ":")
	return user, hash
}

// userLine returns a line of a file of users, or the fault of the user. most is the
// highest accepted cost of a hash, as a cost of bcrypt; cost is 0 for kinds without
// one.
// Source:
// https://nginx.org/en/docs/http/ngx_http_auth_basic_module.html#auth_basic_user_file
func userLine(user, hash string, most int) (line string, cost int, fault string) {
	switch {
	case user == "" || hash == "":
		return "", 0, "want user:hash (got something else)"
	case strings.HasPrefix(user, "#") || !isPrintable(user) || strings.Contains(user, ":"):
		return "", 0, "want a user of printable characters, without a colon and # at the beginning"
	case !isPrintable(hash) || strings.Contains(hash, ":"):
		return "", 0, "want a hash of printable ASCII characters without a colon"
	}
	cost, fault = costOf(hash, most)
	if fault != "" {
		return "", 0, fault
	}
	if len(user)+len(":")+len(hash) > mostUserLine {
		return "", 0, fmt.Sprintf("want a user and a hash of at most %d bytes", mostUserLine)
	}
	return user + ":" + hash + "\n", cost, ""
}

// mostUserLine is the maximum length of a line. nginx reads the file in blocks of 2,048
// bytes, and cuts a hash that crosses one.
// Source: NGX_HTTP_AUTH_BUF_SIZE in nginx's ngx_http_auth_basic_module.c
const mostUserLine = 1024

func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}

// The accepted hashes. The cost of a check is bounded, because a worker serves nobody else
// meanwhile. A hash contains the cost of bcrypt, the rounds of SHA-crypt or the parameters
// of yescrypt. Compared with the same cost of bcrypt, yescrypt takes less time, and
// SHA-crypt about as much with the longest password that crypt accepts (512 bytes): see
// decision 22.
const (
	usualRounds     = 5_000 // the rounds of SHA-crypt in a hash without a number
	usualRoundsCost = 8
	yescryptCosts   = "56789ABCD"
	leastYescrypt   = 5
)

const hashText = `[./0-9A-Za-z]`

var (
	desHash      = regexp.MustCompile(`^` + hashText + `{13}$`)
	md5Hash      = regexp.MustCompile(`^\$(?:1|apr1)\$[^$]{0,8}\$` + hashText + `{22}$`)
	shaHash      = regexp.MustCompile(`^\$[56]\$(?:rounds=([0-9]{1,9})\$)?[^$]{0,16}\$` + hashText + `{43,86}$`)
	bcryptHash   = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$` + hashText + `{53}$`)
	yescryptHash = regexp.MustCompile(`^\$y\$j([` + yescryptCosts + `])T\$` + hashText + `{1,64}\$` + hashText + `{43}$`)
)

// costOf returns the cost of checking a hash, as a cost of bcrypt, or a fault that
// contains no part of the hash. most is the highest accepted cost, at least
// usualRoundsCost.
func costOf(hash string, most int) (cost int, fault string) {
	const kinds = "want a hash that htpasswd or crypt makes: bcrypt, SHA-crypt, yescrypt, apr1, MD5-crypt, DES, {SHA}, {SSHA} or {PLAIN}"
	switch {
	case hash == "{PLAIN}":
		return 0, "want a password behind the braces"
	case strings.HasPrefix(hash, "{PLAIN}"), desHash.MatchString(hash), md5Hash.MatchString(hash):
		return 0, ""
	case strings.HasPrefix(hash, "{SHA}"), strings.HasPrefix(hash, "{SSHA}"):
		_, text, _ := strings.Cut(hash, "}")
		if sum, err := base64.StdEncoding.DecodeString(text); err != nil || len(sum) < sha1Size {
			return 0, "want a SHA-1 in base64 behind the braces"
		}
		return 0, ""
	}
	if found := bcryptHash.FindStringSubmatch(hash); found != nil {
		cost, _ = strconv.Atoi(found[1])
		return cost, tooCostly(cost, most, "a cost of at most %d for bcrypt")
	}
	if found := shaHash.FindStringSubmatch(hash); found != nil {
		rounds, _ := strconv.Atoi(found[1])
		for usualRounds<<cost < rounds {
			cost++
		}
		return usualRoundsCost + cost, tooCostly(rounds, usualRounds<<(most-usualRoundsCost), "at most %d rounds of SHA-crypt")
	}
	if found := yescryptHash.FindStringSubmatch(hash); found != nil {
		cost = leastYescrypt + strings.Index(yescryptCosts, found[1])
		return cost, tooCostly(cost, most, "a cost of at most %d for yescrypt")
	}
	return 0, kinds
}

const sha1Size = 20

// tooCostly returns the fault of a hash that takes too long to check, empty for none.
func tooCostly(got, most int, want string) string {
	if got <= most {
		return ""
	}
	return fmt.Sprintf("want "+want+" (got %d), as nginx serves nobody else while it checks a password, or a higher password-hash-max-cost in the ConfigMap of the controller", most, got)
}
