// Package rootfs is what Sluice brings for nginx besides its configuration:
// in goes nothing, out comes Lua, the modules that nginx runs for it.
package rootfs

import (
	"embed"
	"io/fs"
)

//go:embed etc/nginx/lua/sluice
var files embed.FS

// Lua holds the folder "sluice" with the Lua modules, and in "sluice/entry"
// the files that nginx.conf names. Its root is what lua_package_path wants,
// once it was written to disk.
var Lua = lua()

// lua panics only where the embedded folder has another name than above, which
// every test of the package sees.
func lua() fs.FS {
	sub, err := fs.Sub(files, "etc/nginx/lua")
	if err != nil {
		panic(err)
	}
	return sub
}
