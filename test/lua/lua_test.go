// Package lua runs the unit tests of our Lua modules, testdata/*_test.lua, in
// the Lua of the real nginx: in init_by_lua, where shared dictionaries exist
// and no socket is needed. (nginx -t does not execute it.)
package lua

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/rootfs"
	"sluice/test/kit"
)

const conf = `
daemon off; master_process off; error_log stderr notice; pid DIR/nginx.pid;
load_module ROOT/usr/lib/nginx/modules/ndk_http_module.so; load_module ROOT/usr/lib/nginx/modules/ngx_http_lua_module.so;
events { worker_connections 16; }
http {
  access_log off; client_body_temp_path DIR/temp; proxy_temp_path DIR/temp; fastcgi_temp_path DIR/temp; uwsgi_temp_path DIR/temp; scgi_temp_path DIR/temp;
  lua_package_path "DIR/?.lua;ROOT/usr/share/lua/5.1/?.lua;;"; lua_package_cpath "ROOT/usr/lib/x86_64-linux-gnu/lua/5.1/?.so;;";
  lua_shared_dict sluice_runtime 64k; lua_shared_dict sluice_backends 64k; lua_shared_dict sluice_certificates 64k;
  init_by_lua_file DIR/testdata/run.lua;
}
`

// TestLua runs every test of every file with each nginx that is there.
func TestLua(t *testing.T) {
	t.Parallel()
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) {
			t.Parallel()
			output := run(t, nginx)
			for _, figure := range regexp.MustCompile(`(?m)^\S+: [0-9.]+ % .*$`).FindAllString(output, -1) {
				t.Log(figure)
			}
			results := regexp.MustCompile(`(?m)^(ok|FAIL) (\S+): (.*)$`).FindAllStringSubmatch(output, -1)
			for _, result := range results {
				t.Run(result[2]+" "+result[3], func(t *testing.T) {
					if result[1] != "ok" {
						t.Error(result[3])
					}
				})
			}
			files, err := filepath.Glob("testdata/*_test.lua")
			check(t, err)
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), "_test.lua")
				if !slices.ContainsFunc(results, func(result []string) bool { return result[2] == name }) {
					t.Errorf("%s: testdata/run.lua does not run it", file)
				}
			}
			if !strings.Contains(output, "all tests ran\n") || len(results) == 0 {
				t.Fatalf("the tests did not run to the end:\n%s", output)
			}
		})
	}
}

// run gives all that nginx and the tests printed.
func run(t *testing.T, nginx kit.Nginx) string {
	t.Helper()
	dir := t.TempDir()
	for path, files := range map[string]string{"testdata": "testdata", "dynamic": "../../internal/dynamic/testdata"} {
		check(t, os.CopyFS(filepath.Join(dir, path), os.DirFS(files)))
	}
	check(t, os.CopyFS(dir, rootfs.Lua))
	check(t, os.Mkdir(filepath.Join(dir, "temp"), 0o700))
	text := strings.NewReplacer("DIR", dir, "ROOT", strings.TrimSuffix(nginx.Root, "/")).Replace(conf)
	check(t, os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(text), 0o600))
	output, err := nginx.Call("-e", "stderr", "-p", dir+"/", "-c", dir+"/nginx.conf").CombinedOutput()
	if err != nil {
		t.Errorf("nginx: %v\n%s", err, output)
	}
	return string(output)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
