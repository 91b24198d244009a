package render

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// global holds the settings that nginx.conf has once: their blocks, and their values for
// decisions in Go.
type global struct {
	blocks []model.Block
	settings.Settings
}

// defaultSettings replace blocks that are missing or cannot be printed.
var defaultSettings = sync.OnceValue(func() []model.Block {
	values, _ := settings.Read(nil)
	return values.Blocks()
})

// newGlobal adds the defaults of missing blocks.
func newGlobal(blocks []model.Block) *global {
	g := &global{blocks: blocks}
	for _, b := range defaultSettings() {
		g.read(b)
		if findBlock(blocks, b.Name) == nil {
			g.blocks = append(g.blocks[:len(g.blocks):len(g.blocks)], b)
		}
	}
	for _, b := range blocks {
		g.read(b)
	}
	return g
}

// read copies the group of a block to the field of its type, which has the same name.
func (g *global) read(b model.Block) {
	group := reflect.ValueOf(b.Data)
	if field := reflect.ValueOf(&g.Settings).Elem().FieldByName(group.Type().Name()); field.IsValid() && field.Type() == group.Type() {
		field.Set(group)
	}
}

func findBlock(blocks []model.Block, name string) *model.Block {
	for i := range blocks {
		if blocks[i].Name == name {
			return &blocks[i]
		}
	}
	return nil
}

// settings prints the settings in one context. Where a block cannot be printed its default is,
// there and in the contexts after it, as text in one may need what is in another.
func (r *rendering) settings(context string) insertion {
	return func() error {
		for i, b := range r.global.blocks {
			if err := r.setting(b, context); err != nil {
				r.refuse(model.Problem{Object: b.Source, Text: settingText(b, err) + "; the default is used"})
				if known := findBlock(defaultSettings(), b.Name); known != nil {
					r.global.blocks = slices.Clone(r.global.blocks)
					r.global.blocks[i] = *known
					_ = r.setting(*known, context)
				}
			}
		}
		return nil
	}
}

// settingText is the text of an error, with the name of the group in front.
func settingText(b model.Block, err error) string {
	var named *blockError
	if errors.As(err, &named) {
		return named.Error()
	}
	return b.Name + ": " + reason(err)
}

// setting prints and checks a block.
func (r *rendering) setting(b model.Block, context string) error {
	return r.attempt(r.templates.place(contexts[context][0]), func() error { return r.print(b, context) })
}

// listenView is one listen directive.
type listenView struct {
	// Socket is a unix socket, "" for an Address with a port.
	Socket, Address                       string
	SSL, HTTP2, Default, ReusePort, Proxy bool
	// Backlog is the limit of connections that wait to be accepted, 0 for nginx's own.
	Backlog int
}

// socketBacklog is more than the machine allows. With TCP the client tries again, but a
// full unix socket refuses at once.
// Source: https://man7.org/linux/man-pages/man2/listen.2.html
const socketBacklog = 65535

// listens returns the listen directives of a server.
func (r *rendering) listens() []listenView {
	var all []listenView
	for _, address := range r.addresses() {
		all = append(all, listenView{Address: address + strconv.Itoa(r.env.HTTPPort)})
	}
	if !r.fronted {
		for _, address := range r.addresses() {
			all = append(all, listenView{Address: address + strconv.Itoa(r.env.HTTPSPort), SSL: true})
		}
	}
	for i := range all {
		all[i].Proxy = r.global.Forwarded.ProxyProtocol
	}
	if r.fronted {
		all = append(all, listenView{Socket: r.env.socket("https"), SSL: true, Proxy: true})
	}
	return all
}

// defaultListens returns the listen directives of the catch-all server. Its options of a
// port hold for all servers.
func (r *rendering) defaultListens() []listenView {
	all := r.listens()
	for i := range all {
		all[i].Default, all[i].ReusePort = true, r.global.Listen.ReusePort && all[i].Socket == ""
		if all[i].Socket != "" {
			all[i].Backlog = socketBacklog
		}
		all[i].HTTP2 = all[i].SSL && r.global.HTTP2.Enabled && !r.env.Capabilities.HTTP2Directive
	}
	return all
}

// addresses returns the text before each port, "" for all IPv4 addresses.
func (r *rendering) addresses() []string {
	ipv6 := r.env.IPv6 && !r.global.Listen.DisableIPv6
	given := r.env.Addresses
	if own := r.global.Listen.Bind(); len(own) > 0 {
		given = own
	}
	var all, others []string
	for _, address := range given {
		switch {
		case !strings.Contains(address, ":"):
			all = append(all, address+":")
		case ipv6:
			all = append(all, "["+address+"]:")
		default:
			others = append(others, "["+address+"]:")
		}
	}
	switch {
	case len(all) > 0:
		return all
	case len(others) > 0:
		return others // rather than the default of nginx, which is all addresses
	case ipv6:
		return []string{"", "[::]:"}
	}
	return []string{""}
}
