--- Runs the tests of all files beside it, prints one line for each, and ends nginx. A
-- file returns a table of tests by name; each test gets empty dictionaries.
local files = { "auth_cookies", "balancer", "certificate", "control", "cookie", "debug_header", "globals", "grpc_error", "hash", "load", "metrics", "runtime", "split", "trace", "turns", "wire" }

local function fresh()
  for _, name in ipairs({ "sluice_runtime", "sluice_backends", "sluice_certificates" }) do
    ngx.shared[name]:flush_all()
    ngx.shared[name]:flush_expired()
  end
  require("sluice.runtime").share_version(ngx.shared.sluice_runtime)
  return ngx.shared
end

for _, file in ipairs(files) do
  local names = {}
  local tests = require("testdata." .. file .. "_test")
  for name in pairs(tests) do
    names[#names + 1] = name
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local ok, err = pcall(tests[name], fresh())
    local text = ok and name or name .. ": " .. tostring(err):gsub("\n", " ")
    io.stderr:write(ok and "ok " or "FAIL ", file, ": ", text, "\n")
  end
end
io.stderr:write("all tests ran\n")
os.exit(0)
