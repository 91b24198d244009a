package keys

import (
	"slices"
	"strings"
	"testing"
)

func TestSecRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SecRuleEngine Off\nSecRuleEngine On":         "SecRuleEngine On",
		"secruleengine On":                            "SecRuleEngine On",
		"# a comment \\\n\n SecRuleEngine   \"On\"\r": "SecRuleEngine On",
		`SecRule ARGS "evil" "id:1"`:                  `SecRule ARGS "@rx evil" "id:1"`,
		`SecRule ARGS "!evil" "id:1"`:                 `SecRule ARGS "!@rx evil" "id:1"`,
		`SecRule ARGS "^[\"'}{;]$" "id:'1',DENY"`:     `SecRule ARGS "@rx ^[\x22'}{;]$" "id:1,deny"`,
		"SecRule ARGS|!ARGS:b @detectxss \\\n  \"id:1,phase:2,\\\n  t:none,msg:'a, b',setvar:tx.a=+1\"": `SecRule ARGS|!ARGS:b "@detectXSS" "id:1,phase:2,t:none,msg:'a, b',setvar:'tx.a=+1'"`,
		`SecRuleUpdateTargetById 942100 "!ARGS:password"`:                                               `SecRuleUpdateTargetById 942100 "!ARGS:password"`,
		"SecRuleRemoveById 1 900-950 \"7\"":                                                             "SecRuleRemoveById 1 900-950 7",
		`SecRuleRemoveByTag attack-sqli`:                                                                `SecRuleRemoveByTag "attack-sqli"`,
		`SecAction "id:900110,pass,ctl:ruleEngine=Off"`:                                                 `SecAction "id:900110,pass,ctl:ruleEngine=Off"`,
		"SecAuditLog /dev/stdout":                                                                       "SecAuditLog /dev/stdout",
		"SecRule ARGS:a \"@rx a\tb\" \"id:1\"":                                                          "SecRule ARGS:a \"@rx a\tb\" \"id:1\"",
		`SecRule ARGS "@rx (%{tx.a}" "id:1"`:                                                            `SecRule ARGS "@rx (%{tx.a}" "id:1"`, // known when it runs
		"SecRule A b \"id:1,chain\"\nSecRule C d":                                                       "SecRule A \"@rx b\" \"id:1,chain\"\nSecRule C \"@rx d\"",
	} {
		var r SecRules
		if err := r.UnmarshalText([]byte(text)); err != nil || len(r) != 1 || strings.Join(r[0], "\n") != want {
			t.Errorf("%q: %q, %v", text, r, err)
		}
		// What it writes, it reads as the same.
		var again SecRules
		if err := again.UnmarshalText([]byte(want)); err != nil || !slices.EqualFunc(r, again, slices.Equal[[]string]) {
			t.Errorf("%q again: %q, %v", want, again, err)
		}
	}
}

// Nothing that runs programs, touches files, asks the network or keeps state of others is
// accepted, nor text of which ModSecurity may see another end.
func TestSecRulesAreOfTheList(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing", "Include /etc/passwd", "IncludeOptional /x", "SecRemoteRules key https://evil.example/rules", "SecRemoteRulesFailAction Warn", "SecAuditLog /state/nginx.conf", "SecAuditLog \"|/bin/sh\"",
		"SecAuditLog2 /x", "SecAuditLogStorageDir /x", "SecAuditLogType Concurrent", "SecAuditLogType HTTPS", "SecAuditLogFileMode 0777", "SecDebugLog /state/x", "SecDebugLogLevel 9", "SecTmpDir /state", "SecDataDir /state",
		"SecUploadDir /state", "SecUploadKeepFiles On", "SecTmpSaveUploadedFiles On", "SecUnicodeMapFile /x 20127", "SecGeoLookupDB /x", "SecGsbLookupDb /x", "SecHttpBlKey x", "SecRuleScript /x.lua \"id:1\"", "SecXmlExternalEntity On",
		"SecWebAppId other", "SecCollectionTimeout 1", "SecStatusEngine On", "SecChrootDir /x", "SecGuardianLog |/x", "SecRuleEngine On SecAuditLog /x", "SecRuleEngine Maybe", "SecRuleEngine",
		"SecRule ARGS \"@inspectFile /bin/sh\" \"id:1\"", "SecRule ARGS \"@InspectFile /x.lua\" \"id:1\"", "SecRule ARGS \" !  @inspectFile /x.lua\" \"id:1\"", "SecRule ARGS \"@pmFromFile /etc/passwd\" \"id:1\"", "SecRule ARGS \"@pmf https://evil.example/x\" \"id:1\"",
		"SecRule ARGS \"@ipMatchFromFile https://evil.example\" \"id:1\"", "SecRule ARGS \"@ipMatchF /x\" \"id:1\"", "SecRule ARGS \"@fuzzyHash /x 1\" \"id:1\"", "SecRule ARGS \"@geoLookup\" \"id:1\"", "SecRule ARGS \"@rbl evil.example\" \"id:1\"",
		"SecRule ARGS \"@gsbLookup x\" \"id:1\"", "SecRule ARGS \"@validateDTD /x\" \"id:1\"", "SecRule ARGS \"@validateSchema /x\" \"id:1\"", "SecRule ARGS \"@rsub s/a/b/\" \"id:1\"", "SecRule ARGS \"@detectXSS @inspectFile /x\" \"id:1\"", "SecRule ARGS \"@rx\" \"id:1\"",
		"SecAction \"id:1,exec:/bin/sh\"", "SecAction \"id:1,EXEC:'/x.lua'\"", "SecAction \"id:1,setenv:LD_PRELOAD=/x\"", "SecAction \"id:1,initcol:ip=%{REMOTE_ADDR}\"", "SecAction \"id:1,setvar:ip.dos_block=1\"", "SecAction \"id:1,setvar:global.x=1\"",
		"SecAction \"id:1,setvar:%{tx.a}.b=1\"", "SecAction \"id:1,setuid:x\"", "SecAction \"id:1,setsid:x\"", "SecAction \"id:1,setrsc:x\"", "SecAction \"id:1,expirevar:ip.x=1\"", "SecAction \"id:1,proxy:http://evil.example\"", "SecAction \"id:1,xmlns:a=b\"",
		"SecAction \"id:1,ctl:auditLogParts=+B\"", "SecAction \"id:1,ctl:debugLogLevel=9\"", "SecAction \"id:1,pause:1000\"", "SecAction \"id:1,append:x\"", "SecAction \"id:1,deny:exec:/x\"", "SecAction \"id:1,msg:'a',exec:'/x'\"", "SecAction \"id:1,msg:'a\\',exec:/x,msg:'b'\"",
		"SecAction \"id:1,msg:a\\\"b\"", "SecAction \"id:1,msg:'open\"", "SecAction \"id:901100,pass\"", "SecAction \"id:900990,pass\"", "SecAction \"id:899001,pass\"", "SecAction \"id:99999999999999999999,pass\"", "SecDefaultAction \"phase:1,exec:/x\"",
		"SecRuleUpdateActionById 1 \"exec:/x\"", "SecRuleUpdateTargetById 1 \"ARGS\\\" \\\"x\"", "SecRule ARGS \"a\\\\\" \"id:1\"", "SecRule ARGS \"a\\\\\\\" @inspectFile /x\" \"id:1\"", "SecRule ARGS \"a\"b \"id:1\"", "SecRule ARGS \"a", "SecRule \"ARGS a\" b", "SecRule 'ARGS' b",
		"SecRule ARGS \"@streq a\\\"b\" \"id:1\"", "SecRule ARGS \"@streq a\\ \" \"id:1\"", "SecRule ARGS\\ \"a\"", "SecRule ARGS a \"id:1\" \"b\"", "SecRule ARGS a \"id:1,chain\"", "SecRule ARGS a \"id:1,chain\"\nSecRuleEngine Off", "SecRule ARGS a \"id:1,chain\"\nSecAction \"pass\"",
		"SecRule ARGS \"a\nInclude /x\" \"id:1\"", "SecRuleEngine On\x00", "SecRuleEngine On\x0bInclude /x", "SecRuleEngine On\u2028", "SecMarker \"a\nb\"", "SecRule ARGS \"" + strings.Repeat("a", 4000) + "\" \"id:1\"", "SecRule ARGS \"" + strings.Repeat(`\`, 2500) + "a\" \"id:1\"",
		strings.Repeat("SecRuleEngine On\n", 2000), "';\nmodsecurity off;", "SecRuleEngine On';", "SecRuleRemoveByTag a\"b", "SecRuleRemoveByTag a'b", "<IfModule x>", "SecArgumentSeparator ';'",
		`SecRule ARGS "@rx (" "id:1"`, `SecRule ARGS "!@rxGlobal [a" "id:1"`, `SecRule ARGS "a**" "id:1"`,
		`\`, "\\\n", "\\\n\\", "SecRuleEngine On\n \\", "SecRule", "SecRule ARGS", "SecAction", "SecAction \"\"", "SecRuleUpdateActionById 1",
	} {
		var r SecRules
		if err := r.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%.80q is accepted as %.80q", text, r)
		} else if strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%.80q: the error has control characters: %q", text, err)
		}
	}
}

// FuzzSecRules: no text breaks the reader, and what it writes it reads as the same.
func FuzzSecRules(f *testing.F) {
	for _, seed := range []string{`\`, "SecRuleEngine On", `SecRule ARGS:a "@rx [\"'\\}{;$]" "id:1,phase:2,deny,msg:'}{;#'"`, "SecRule A b \"id:1,chain\"\nSecRule C d \"t:none\"", `SecRuleUpdateTargetById 1 "!ARGS:a"`, `SecAction "id:1,pass,ctl:ruleEngine=Off"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r, again SecRules
		if r.UnmarshalText([]byte(text)) != nil {
			return
		}
		var lines []string
		for _, rule := range r {
			lines = append(lines, rule...)
		}
		if err := again.UnmarshalText([]byte(strings.Join(lines, "\n"))); err != nil || !slices.EqualFunc(r, again, slices.Equal[[]string]) {
			t.Errorf("%q is written as %q, and read again as %q: %v", text, r, again, err)
		}
	})
}
