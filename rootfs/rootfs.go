// Package rootfs embeds the Lua modules that nginx runs for Sluice.
package rootfs

import (
	"embed"
	"io/fs"
)

//go:embed etc/nginx/lua/sluice
var files embed.FS

// Lua holds the folder "sluice" with the Lua modules; nginx.conf names the files in
// "sluice/entry". On disk, lua_package_path must contain its root.
var Lua = lua()

// lua panics only if the embedded folder has another name than above.
func lua() fs.FS {
	sub, err := fs.Sub(files, "etc/nginx/lua")
	if err != nil {
		panic(err)
	}
	return sub
}
