--- Answers the controller on the control socket: POST /push, GET /status
-- and GET /held.
local runtime = require("sluice.runtime")
local wire = require("sluice.wire")

local _M = {}

-- Calls store(item) for each item. Returns the ids of those that failed, and an error.
local function store_all(items, id, store)
  local failed, why = {}, nil
  for _, item in ipairs(items) do
    local ok, err = store(item)
    if not ok then
      failed[#failed + 1] = item[id]
      why = why or err
    end
  end
  return failed, why
end

local function delete_all(dict, prefix, keys)
  for _, key in ipairs(keys) do
    dict:delete(prefix .. key)
  end
end

local function set(dicts, lists)
  local failed, why = {}, {}
  local certificates = dicts.sluice_certificates
  failed.backends, why.backends = store_all(lists.backends, "key", function(item)
    return runtime.store(dicts.sluice_backends, item.key, wire.backend(item))
  end)
  failed.certificates, why.certificates = store_all(lists.certificates, "id", function(item)
    return runtime.store(certificates, "c:" .. item.id, wire.certificate(item))
  end)
  failed.names, why.names = store_all(lists.names, "host", function(item)
    -- Otherwise the host keeps its former certificate.
    if not certificates:ttl("c:" .. item.id) then
      return nil, "its certificate is not held"
    end
    return runtime.store(certificates, "n:" .. item.host, item.id)
  end)
  failed.staples, why.staples = store_all(lists.staples, "id", function(item)
    -- The dictionary drops it when it expires, also if the controller does not.
    local left = item["until"] - ngx.time()
    if left <= 0 then
      certificates:delete("o:" .. item.id)
      return true
    end
    return runtime.store(certificates, "o:" .. item.id, ngx.decode_base64(item.response), left)
  end)
  failed.tickets, why.tickets = store_all(lists.tickets, "id", function(item)
    return runtime.store(certificates, "t:" .. item.id, ngx.decode_base64(item.key))
  end)
  return failed, why
end

local function delete(dicts, lists)
  delete_all(dicts.sluice_certificates, "o:", lists.staples)
  delete_all(dicts.sluice_certificates, "t:", lists.tickets)
  delete_all(dicts.sluice_certificates, "n:", lists.names)
  delete_all(dicts.sluice_certificates, "c:", lists.certificates)
  delete_all(dicts.sluice_backends, "", lists.backends)
end

-- The failed items without empty lists, which JSON would make objects, and an error.
local function failures(failed, why)
  local found, text = nil, nil
  for _, kind in ipairs({ "backends", "certificates", "names", "staples", "tickets" }) do
    if #failed[kind] > 0 then
      found = found or {}
      found[kind] = failed[kind]
      text = text or (#failed[kind] .. " " .. kind .. " not stored: " .. why[kind])
    end
  end
  return found, text
end

--- Carries out a push.
-- @tparam table dicts holds sluice_runtime, sluice_backends, sluice_certificates
-- @tparam string body JSON
-- @treturn number status
-- @treturn table the answer
function _M.push(dicts, body)
  local push, err = wire.decode(body)
  if not push then
    return 400, { error = err }
  end
  local boot = dicts.sluice_runtime:get("boot")
  if push.boot ~= boot then
    return 409, { error = "this nginx was started anew", boot = boot }
  end
  local failed, text = failures(set(dicts, push.set))
  delete(dicts, push.delete)
  -- Workers look again even if something failed: the rest was stored.
  local version, why = runtime.bump(dicts.sluice_runtime)
  if failed or not version then
    return 507, { error = text or why, boot = boot, failed = failed, memory = runtime.memory(dicts) }
  end
  return 200, { boot = boot, version = version, memory = runtime.memory(dicts) }
end

local function keys_with(keys, pattern)
  local found = {}
  for _, key in ipairs(keys) do
    found[#found + 1] = key:match(pattern)
  end
  if #found > 0 then -- JSON would make an empty table an object
    return found
  end
end

--- The keys of everything that is stored, for a controller that did not push it.
-- @treturn table {backends, certificates, names, staples, tickets}; empty ones are left out
function _M.held(dicts)
  local bound = dicts.sluice_certificates:get_keys(0)
  return {
    backends = keys_with(dicts.sluice_backends:get_keys(0), "^.*/.*$"),
    certificates = keys_with(bound, "^c:(.*)$"),
    names = keys_with(bound, "^n:(.*)$"),
    staples = keys_with(bound, "^o:(.*)$"),
    tickets = keys_with(bound, "^t:(.*)$"),
  }
end

local function read_push(dicts)
  ngx.req.read_body()
  if ngx.req.get_body_file() then
    ngx.log(ngx.ERR, "sluice: nginx wrote a push to disk: client_body_buffer_size is too small")
    return 500, { error = "the push was written to disk: client_body_buffer_size is too small" }
  end
  return _M.push(dicts, ngx.req.get_body_data() or "")
end

local function answer()
  local method, path = ngx.req.get_method(), ngx.var.uri
  if path == "/status" and method == "GET" then
    return 200, runtime.status(ngx.shared)
  elseif path == "/held" and method == "GET" then
    return 200, _M.held(ngx.shared)
  elseif path == "/push" and method == "POST" then
    return read_push(ngx.shared)
  end
  return 404, { error = "want GET /status, GET /held or POST /push" }
end

--- Answers the request. For content_by_lua of the control server.
function _M.run()
  local status, body = answer()
  ngx.status = status
  ngx.header.content_type = "application/json"
  ngx.say(wire.encode(body))
end

return _M
