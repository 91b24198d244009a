package explain

import (
	"strconv"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// inPlaceOf returns the answer that a location gives in place of a status of nginx: that of
// error-status, or the page of an error backend.
func (x *explainer) inPlaceOf(a Answer) Answer {
	page, status := x.errorPage(a.Status)
	switch {
	case page == nil:
	case page.Proxy == nil && status != 0:
		a.Why += "; error-status gives " + strconv.Itoa(a.Status) + " as " + strconv.Itoa(status)
		a.Status = status
	case page.Proxy != nil && page.Proxy.OfError != "":
		b := x.backend(page)
		if b.Why != "" {
			break // it has no endpoint: the page is that of nginx
		}
		a.Service = snapshot.Name{Namespace: b.Service.Namespace, Name: b.Service.Name}.String()
		a.Why += "; Service " + a.Service + " answers in its place"
		if page.Proxy.OfError == model.StatusOfError {
			a.Why += ", with this status"
		}
	}
	return a
}

// errorPage returns the internal location that answers in place of a status, nil for none,
// and the status that error-status has it give, 0 for none.
func (x *explainer) errorPage(status int) (page *model.Location, given int) {
	for _, block := range x.choice.Location.Blocks {
		pages, ok := block.Data.(interface {
			InPlaceOf(code string) (to, status string)
		})
		if !ok {
			continue
		}
		if to, as := pages.InPlaceOf(strconv.Itoa(status)); to != "" {
			given, _ = strconv.Atoi(as)
			return x.choice.Server.Named(to), given
		}
	}
	return nil, 0
}
