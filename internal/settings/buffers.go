package settings

import (
	"fmt"
	"strings"

	"sluice/internal/keys"
)

// TempFileSize returns the value of proxy_max_temp_file_size, which is 0 for no file, and
// otherwise at least the size of a buffer: nginx rejects less.
func TempFileSize(most, buffer keys.Size) keys.Size {
	if most == "0" {
		return "0"
	}
	return keys.Larger(most, buffer)
}

// BusySize returns the value of proxy_busy_buffers_size: at least one buffer and at most
// all but one, because nginx rejects others. asked is "" for two buffers.
// Source: https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_busy_buffers_size
func BusySize(asked, buffer keys.Size, number int) keys.Size {
	one := buffer.Bytes()
	bytes := asked.Bytes()
	if asked == "" {
		bytes = 2 * one
	}
	return keys.SizeOf(min(max(bytes, one), int64(number-1)*one))
}

// MendBusy reports a size that nginx would reject, and sets it to the nearest valid one.
func MendBusy(asked *keys.Size, buffer keys.Size, number int) *keys.Fault {
	given, valid := *asked, BusySize(*asked, buffer, number)
	if given == "" || given == valid {
		return nil
	}
	*asked = valid
	return &keys.Fault{
		Key: "proxy-busy-buffers-size", Value: string(given), Alone: true, Partly: true, Rest: string(valid), Meanwhile: "the size is " + string(valid),
		Want: fmt.Sprintf("a size from one of the %d buffers of %s to all but one", number, buffer),
	}
}

// TempFileSize returns the value of proxy_max_temp_file_size for all paths.
func (p Proxy) TempFileSize() keys.Size { return TempFileSize(p.MaxTempFileSize, p.BufferSize) }

// BusySize returns the value of proxy_busy_buffers_size for all paths.
func (p Proxy) BusySize() keys.Size { return BusySize(p.BusyBuffers, p.BufferSize, p.BuffersNumber) }

// mend reports a size of busy buffers that nginx would reject, and changes it.
func (p *Proxy) mend() []keys.Fault {
	if fault := MendBusy(&p.BusyBuffers, p.BufferSize, p.BuffersNumber); fault != nil {
		return []keys.Fault{*fault}
	}
	return nil
}

// Domain returns the arguments of proxy_cookie_domain.
func (a Answers) Domain() []string { return strings.Fields(a.CookieDomain) }

// Path returns the arguments of proxy_cookie_path.
func (a Answers) Path() []string { return strings.Fields(a.CookiePath) }

// Redirect returns the arguments of proxy_redirect.
func (a Answers) Redirect() []string {
	if a.RedirectFrom == "off" || a.RedirectTo == "off" {
		return []string{"off"}
	}
	return []string{a.RedirectFrom, a.RedirectTo}
}
