package translate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const (
	bcrypted = "$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC"
	sha512ed = "$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/"
)

func TestHashes(t *testing.T) {
	t.Parallel()
	salted := "$6$" + strings.Repeat("s", 16) + "$" + strings.Repeat("a", 86)
	tests := map[string]string{
		bcrypted: "", sha512ed: "", salted: "",
		"$2a$10$" + strings.Repeat("a", 53):                             "",
		"$2y$11$" + strings.Repeat("a", 53):                             "cost of at most 10 for bcrypt (got 11)",
		"$2x$05$" + strings.Repeat("a", 53):                             "want a hash that",
		"$2y$05$" + strings.Repeat("a", 52):                             "want a hash that",
		"$6$rounds=20000$salt$" + strings.Repeat("a", 86):               "",
		"$5$rounds=20001$salt$" + strings.Repeat("a", 43):               "at most 20000 rounds of SHA-crypt (got 20001)",
		"$6$rounds=1000000000000$salt$" + strings.Repeat("a", 86):       "want a hash that",
		"$6$" + strings.Repeat("s", 17) + "$" + strings.Repeat("a", 86): "want a hash that",
		"$apr1$salt$" + strings.Repeat("a", 22):                         "",
		"$1$$" + strings.Repeat("a", 22):                                "",
		"$y$j9T$salt$" + strings.Repeat("a", 43):                        "",
		"$y$jAT$salt$" + strings.Repeat("a", 43):                        "",
		"$y$jBT$salt$" + strings.Repeat("a", 43):                        "cost of at most 10 for yescrypt (got 11)",
		"$y$jFT$salt$" + strings.Repeat("a", 43):                        "want a hash that",
		"$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA":                  "want a hash that",
		"$7$CU..../....salt$" + strings.Repeat("a", 43):                 "want a hash that",
		"{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=":                             "",
		"{SHA}not base64":                                               "want a SHA-1",
		"{SHA}c2hvcnQ=":                                                 "want a SHA-1",
		"{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9hzYWx0":                        "",
		"{MD5}X03MO1qnZdYdgyfeuILPmQ==":                                 "want a hash that",
		"{PLAIN}secret":                                                 "",
		"{PLAIN}":                                                       "want a password behind the braces",
		"{SSHA}":                                                        "want a SHA-1",
		"{plain}secret":                                                 "want a hash that",
		"secret":                                                        "want a hash that",
		"abJnggxhB/yWI":                                                 "",
		"abJnggxhB/yW!":                                                 "want a hash that",
		"*":                                                             "want a hash that",
	}
	for hash, want := range tests {
		line, _, fault := userLine("ann", hash, 10)
		if want == "" {
			if fault != "" || line != "ann:"+hash+"\n" {
				t.Errorf("%s: %q, %q", hash, line, fault)
			}
			continue
		}
		if line != "" || !strings.Contains(fault, want) {
			t.Errorf("%s: %q, %q, want %q", hash, line, fault, want)
		}
		if strings.Contains(fault, hash) {
			t.Errorf("%s: the fault tells the hash: %q", hash, fault)
		}
	}
}

// The setting limits the time of a password check. Each step of the cost doubles the
// time, for each kind of hash. The default rounds of SHA-crypt always pass.
func TestCostsThatAreAllowed(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("a", 53), strings.Repeat("a", 43)
	for most, costs := range map[int][2][]string{
		8:  {{"$2y$08$" + long, "$5$salt$" + short, "$5$rounds=5000$salt$" + short, "$y$j8T$salt$" + short}, {"$2y$09$" + long, "$5$rounds=5001$salt$" + short, "$y$j9T$salt$" + short}},
		12: {{"$2y$12$" + long, "$5$rounds=80000$salt$" + short, "$y$jCT$salt$" + short}, {"$2y$13$" + long, "$5$rounds=80001$salt$" + short, "$y$jDT$salt$" + short}},
		14: {{"$2y$14$" + long, "$5$rounds=320000$salt$" + short, "$y$jDT$salt$" + short}, {"$2y$15$" + long, "$2y$31$" + long, "$5$rounds=320001$salt$" + short}},
	} {
		for at, hashes := range costs {
			for _, hash := range hashes {
				_, _, fault := userLine("ann", hash, most)
				if refused := at == 1; (fault != "") != refused || refused && !strings.Contains(fault, "password-hash-max-cost") {
					t.Errorf("%s with at most %d: %q", hash, most, fault)
				}
			}
		}
	}
}

// Costly hashes are checked slowly, so that one client leaves a worker time for others.
func TestPace(t *testing.T) {
	t.Parallel()
	long, short := strings.Repeat("a", 53), strings.Repeat("a", 43)
	for hash, rate := range map[string]string{
		"{PLAIN}x": "", bcrypted: "", sha512ed: "", "$apr1$salt$" + strings.Repeat("a", 22): "", "$2y$08$" + long: "", "$y$j8T$salt$" + short: "",
		"$2y$09$" + long: "1200r/m", "$5$rounds=5001$salt$" + short: "1200r/m", "$y$j9T$salt$" + short: "1200r/m",
		"$2y$10$" + long: "600r/m", "$5$rounds=20000$salt$" + short: "600r/m", "$y$jAT$salt$" + short: "600r/m",
		"$2y$12$" + long: "150r/m", "$2y$14$" + long: "37r/m",
	} {
		secret := &corev1.Secret{Data: map[string][]byte{"auth": []byte("ann:{PLAIN}x\nbob:" + hash + "\ncas:{PLAIN}x")}}
		if got := paceOf(usersOf(secret, "auth-file", 14).cost); got.Rate != rate || (got.Zone != "") != (rate != "") {
			t.Errorf("%s: %+v, want %q", hash, got, rate)
		}
	}
}

// Neither a user nor a hash can contain a line end, so that none can add another user.
func TestHostileUsers(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"", "\n", "ann\nbob:{PLAIN}x", "ann\rbob", "ann\r\nbob", "ann:{PLAIN}x", ":", "#ann", "ann\x00", "\x00", "a\tb", "ann\x7f", "\x1b[31m", "\xff", "a\xc3(", "\ufffd",
	} {
		if line, _, fault := userLine(hostile, bcrypted, 10); line != "" || fault == "" {
			t.Errorf("user %q: %q", hostile, line)
		}
	}
	for _, hostile := range []string{"", "\nbob:{PLAIN}x", "\rbob", "x:comment", ":", "\x00", "\xff", "a\tb", "\ufffd"} {
		for _, hash := range []string{hostile, "{PLAIN}" + hostile, bcrypted + hostile} {
			if strings.Contains(hash, hostile) && hostile == "" && hash != "" {
				continue
			}
			if line, _, fault := userLine("ann", hash, 10); line != "" || fault == "" {
				t.Errorf("hash %q: %q", hash, line)
			}
		}
	}
	for _, user := range []string{"a b", " ", "é", "a#b", "\"", "'", "$user", "{}", ";", "a/../b", "\u0085", strings.Repeat("a", mostUserLine-len(bcrypted)-1)} {
		if line, _, fault := userLine(user, bcrypted, 10); line != user+":"+bcrypted+"\n" || fault != "" {
			t.Errorf("user %q: %q, %q", user, line, fault)
		}
	}
}

// nginx reads a file of users in blocks of 2,048 bytes, and compares a hash only as far
// as it has read it.
func TestUsersThatAreTooLong(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{strings.Repeat("a", mostUserLine-len(bcrypted)), bcrypted}, {"ann", "{PLAIN}" + strings.Repeat("a", mostUserLine-10)}} {
		if line, _, fault := userLine(pair[0], pair[1], 10); line != "" || !strings.Contains(fault, "1024 bytes") {
			t.Errorf("%d bytes: %q", len(line), fault)
		}
	}
	if line, _, fault := userLine("ann", "{PLAIN}"+strings.Repeat("a", mostUserLine-11), 10); fault != "" || len(line) != mostUserLine+1 {
		t.Errorf("%d bytes: %q", len(line), fault)
	}
}

func TestUsersOfASecret(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		data   map[string]string
		kind   string
		want   string
		faults []string
	}{
		"a file": {kind: "auth-file", data: map[string]string{"auth": "ann:" + bcrypted + "\r\nbob:{PLAIN}b: a comment\n"},
			want: "ann:" + bcrypted + "\nbob:{PLAIN}b\n"},
		// nginx takes the first line of a user, and so does ingress-nginx.
		"the same user twice": {kind: "auth-file", data: map[string]string{"auth": "ann:{PLAIN}a\nann:{PLAIN}b"}, want: "ann:{PLAIN}a\nann:{PLAIN}b\n"},
		"comments and empty lines": {kind: "auth-file", data: map[string]string{"auth": "# ann:{PLAIN}a\n\n \t\nbob:{PLAIN}b"},
			want: "bob:{PLAIN}b\n"},
		"lines that are none": {kind: "auth-file", data: map[string]string{"auth": "ann\nbob:\n:{PLAIN}x\ncas:{PLAIN}c"}, want: "cas:{PLAIN}c\n",
			faults: []string{"line 1: want user:hash (got something else)", "line 2: want user:hash (got something else)", "line 3: want user:hash (got something else)"}},
		"NUL in a file": {kind: "auth-file", data: map[string]string{"auth": "ann:{PLAIN}a\x00\nb\x00b:{PLAIN}b\ncas:{PLAIN}c"}, want: "cas:{PLAIN}c\n",
			faults: []string{"line 1: want a hash of printable", "line 2: want a user of printable"}},
		"no key auth": {kind: "auth-file", data: map[string]string{"ann": bcrypted}},
		"a map": {kind: "auth-map", data: map[string]string{"bob": " {PLAIN}b\n", "ann": bcrypted, "auth": "ann:{PLAIN}a"}, want: "ann:" + bcrypted + "\nbob:{PLAIN}b\n",
			faults: []string{"key auth: want a hash of printable ASCII characters without a colon"}},
		"a map with a line end": {kind: "auth-map", data: map[string]string{"ann": "{PLAIN}a\nbob:{PLAIN}b"},
			faults: []string{"key ann: want a hash"}},
	}
	for name, test := range tests {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for key, value := range test.data {
			secret.Data[key] = []byte(value)
		}
		users := usersOf(secret, test.kind, 10)
		file, faults := users.file, users.faults
		if diff := cmp.Diff(test.want, string(file)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if len(faults) != len(test.faults) {
			t.Errorf("%s: %q, want %q", name, faults, test.faults)
			continue
		}
		for i, fault := range faults {
			if !strings.HasPrefix(fault, test.faults[i]) {
				t.Errorf("%s: %q, want %q", name, fault, test.faults[i])
			}
		}
	}
}
