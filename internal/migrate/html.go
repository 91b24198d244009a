package migrate

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

//go:embed report.html.tmpl
var pageText string

//go:embed report.css
var style string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// The view of the page.
type (
	pageView struct {
		Summary  string
		Style    template.CSS
		Sources  []string
		Groups   []groupView
		Lists    []listView
		Tables   []tableView
		Unserved []Other
		Others   []Other
		Untold   []Untold
	}
	groupView struct {
		Status      Status
		Title, Text string
		Ingresses   []ingressView
	}
	ingressView struct {
		Name, Hosts, Affected string
		Open                  bool
		Items                 []itemView
	}
	itemView struct {
		Status Status
		// Place is an object that is no Ingress.
		Place string
		Item  Item
	}
	listView struct {
		Heading string
		Items   []itemView
	}
	tableView struct {
		Heading   string
		Arguments []Argument
	}
)

// groups are the statuses with their titles.
var groups = []groupView{
	{Status: LeftOut, Title: "left out", Text: "Some or all paths of these Ingresses are not served."},
	{Status: Unavailable, Title: "answer 503", Text: "Some or all paths of these Ingresses answer 503, because something that protects them cannot be honoured."},
	{Status: Different, Title: "behave differently", Text: "All paths of these Ingresses are served, but something is answered otherwise. Read each difference."},
	{Status: Ready, Title: "ready", Text: "These Ingresses are answered as ingress-nginx answers them."},
}

// mostOpen is the number of Ingresses of a status whose items are shown at once.
const mostOpen = 50

// HTML writes one page that needs no other file, no network and no script.
func (r *Report) HTML(out io.Writer) error {
	view := pageView{Summary: r.Summary(), Style: template.CSS(style), Sources: r.Sources, Unserved: r.Unserved, Others: r.Others, Untold: r.Untold}
	for _, g := range groups {
		for _, i := range r.Ingresses {
			if i.Status == g.Status {
				g.Ingresses = append(g.Ingresses, i.view())
			}
		}
		for at := range g.Ingresses {
			g.Ingresses[at].Open = g.Status != Ready && len(g.Ingresses) <= mostOpen
		}
		view.Groups = append(view.Groups, g)
	}
	view.Lists = []listView{{"Not read", views(r.Input)}, {"For every Ingress", views(r.Everywhere)}, {"Other objects", views(r.Objects)}}
	view.Tables = []tableView{{"Settings", r.Settings}, {"Flags", r.Flags}, {"Values of the chart", r.Values}}
	return pageTemplate.Execute(out, view)
}

func (i Ingress) view() ingressView {
	hosts := strings.Join(i.Hosts, ", ")
	if len(i.Hosts) > 4 {
		hosts = strings.Join(i.Hosts[:4], ", ") + ", ..."
	}
	return ingressView{Name: i.Namespace + "/" + i.Name, Hosts: hosts, Affected: strings.TrimSpace(i.Affected()), Items: views(i.Items)}
}

func views(items []Item) []itemView {
	var all []itemView
	for _, item := range items {
		v := itemView{Status: item.Status, Item: item}
		if item.Object.Kind != "" && item.Object.Kind != "Ingress" {
			v.Place = strings.TrimSpace(item.Object.String())
		}
		all = append(all, v)
	}
	return all
}
