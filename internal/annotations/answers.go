package annotations

import (
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// HTTPVersion is the version of HTTP that nginx speaks with the backends.
type HTTPVersion struct {
	Version string `key:"proxy-http-version" from:"proxy-http-version" risk:"low" validate:"oneof=1.0 1.1" doc:"Version of HTTP for requests to the backends. With 1.0, WebSockets do not work and no connection is kept."`
}

// AnswerRewrites changes the headers of answers that name the backend: cookies and
// redirects.
type AnswerRewrites struct {
	CookieDomain string `key:"proxy-cookie-domain" from:"proxy-cookie-domain" off:"off" risk:"medium" validate:"from_to" doc:"Domain of cookies to replace, and its replacement, such as \"app.internal example.com\"."`
	CookiePath   string `key:"proxy-cookie-path" from:"proxy-cookie-path" off:"off" risk:"medium" validate:"from_to" doc:"Beginning of the path of cookies to replace, and its replacement, such as \"/app/ /\"."`
	RedirectFrom string `key:"proxy-redirect-from" from:"proxy-redirect-from" off:"off default" risk:"medium" validate:"url_text" doc:"Beginning of the header Location of answers that proxy-redirect-to replaces."`
	RedirectTo   string `key:"proxy-redirect-to" from:"proxy-redirect-to" off:"off" risk:"medium" validate:"url_text" doc:"Replacement for proxy-redirect-from."`
}

// mend reports one part of a redirect without the other.
func (a *AnswerRewrites) mend(given func(key string) bool) []keys.Fault {
	switch from, to := a.RedirectFrom != "off", a.RedirectTo != "off"; {
	case from && !to:
		return []keys.Fault{{Key: "proxy-redirect-from", Value: a.RedirectFrom, Want: "proxy-redirect-to beside it", Alone: true}}
	case to && !from && !given("proxy-redirect-from"):
		return []keys.Fault{{Key: "proxy-redirect-to", Value: a.RedirectTo, Want: "proxy-redirect-from beside it", Alone: true}}
	}
	return nil
}

// answerRewritesBlock is the data of the template of AnswerRewrites. Each field holds the
// arguments of its directive, nil for no directive.
type answerRewritesBlock struct{ CookieDomain, CookiePath, Redirect []string }

// Print returns the directives that differ from those of the http level.
func (a AnswerRewrites) Print(at Place) any {
	own, general := settings.Answers(a), at.Settings.Answers
	block := answerRewritesBlock{
		CookieDomain: strings.Fields(differs(own.CookieDomain, general.CookieDomain)),
		CookiePath:   strings.Fields(differs(own.CookiePath, general.CookiePath)),
	}
	if !slices.Equal(own.Redirect(), general.Redirect()) {
		block.Redirect = own.Redirect()
	}
	if len(block.CookieDomain)+len(block.CookiePath)+len(block.Redirect) == 0 {
		return nil
	}
	return block
}

// RedirectForm is the form of the redirects that nginx makes itself.
type RedirectForm struct {
	Relative bool `key:"relative-redirects" default:"false" off:"false f 0 no off" risk:"low" doc:"Whether redirects without a host in their URL stay so. Otherwise nginx adds scheme and host, unless the setting is true."`
	UsePort  bool `key:"use-port-in-redirects" from:"use-port-in-redirects" off:"false f 0 no off" risk:"low" doc:"Whether redirects contain the port, and those to HTTPS the port for HTTPS."`
}

// redirectFormBlock is the data of the template of RedirectForm. Port is "on", "off", or ""
// if the value is that of the http level.
type redirectFormBlock struct {
	Relative bool
	Port     string
}

// Print returns the directives that differ from those of the http level.
func (r RedirectForm) Print(at Place) any {
	g := at.Settings.Redirects
	block := redirectFormBlock{Relative: r.Relative && !g.Relative, Port: differs(onOff(r.UsePort), onOff(g.UsePort))}
	if block == (redirectFormBlock{}) {
		return nil
	}
	return block
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
