--- The state that all workers of one nginx share.
--
-- The dictionary sluice_runtime holds:
--   boot           a random name of this nginx, for as long as its dictionaries live
--   load           the number of loads of a configuration
--   version        grows with every push
--   page           the address of a page with the same number, in the master and its workers
--   w:<load>:<pid> a worker that accepts connections
local ffi = require("ffi")

ffi.cdef([[
int kill(int32_t pid, int sig);
void *mmap(void *addr, size_t length, int prot, int flags, int fd, long offset);
]])

local _M = {}

local DAY = 86400
local NO_SUCH_PROCESS = 3 -- ESRCH
local PAGE = 4096
local READ_WRITE, SHARED_WITHOUT_FILE = 3, 0x21 -- PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS

-- A dictionary without this key is new. No backend and no certificate has it.
_M.MARK = "kept"

-- Set in the master at each load; its workers inherit it.
local load_id

local function random_id()
  local source = assert(io.open("/dev/urandom", "rb"))
  local bytes = source:read(16)
  source:close()
  return (bytes:gsub(".", function(byte)
    return string.format("%02x", byte:byte())
  end))
end

-- nginx empties a dictionary whose size changes.
local function is_new(dict)
  return (dict:safe_add(_M.MARK, true))
end

--- The version, at [0] of the result. Each request reads it, which saves some 500 instructions
-- beside a look into the dictionary. For the master and its workers, after boot.
function _M.version(dict)
  return ffi.cast("double *", ffi.cast("uintptr_t", dict:get("page")))
end

--- Makes the page of the version. The dictionary lives as long as the master, and so does the
-- page: all loads use the same. For the master, before it has workers.
function _M.share_version(dict)
  if dict:get("page") then
    return
  end
  local page = ffi.C.mmap(nil, PAGE, READ_WRITE, SHARED_WITHOUT_FILE, -1, 0)
  local address = tonumber(ffi.cast("intptr_t", page))
  assert(address ~= -1, "no memory for the version")
  assert(dict:safe_set("page", address))
  _M.version(dict)[0] = dict:get("version") or 0
end

--- Counts a load of the configuration. If a dictionary is new, this nginx gets another
-- name, so that the controller pushes everything again. For init_by_lua.
function _M.boot(dicts)
  local dict = dicts.sluice_runtime
  local backends, certificates = is_new(dicts.sluice_backends), is_new(dicts.sluice_certificates)
  if backends or certificates then
    dict:safe_set("boot", random_id())
  end
  _M.share_version(dict)
  load_id = assert(dict:incr("load", 1, 0))
end

local function await_exit(dict, key)
  local ok, err = ngx.timer.at(DAY, function(premature)
    if premature then
      dict:delete(key)
      return
    end
    await_exit(dict, key)
  end)
  if not ok then
    ngx.log(ngx.ERR, "sluice: this worker will not report its end: ", err)
  end
end

--- Enters this worker in the list of those that accept connections. When nginx has
-- closed the listening sockets of a worker, it ends its timers early; ours then takes
-- the worker off the list. For init_worker_by_lua.
function _M.register(dict)
  if not ngx.worker.id() then
    return -- a cache process
  end
  -- The workers are forks of one Lua state and would draw the same numbers.
  math.randomseed(ngx.worker.pid() + ngx.now() * 1000)
  local key = "w:" .. load_id .. ":" .. ngx.worker.pid()
  local ok, err = dict:safe_set(key, true)
  if not ok then
    ngx.log(ngx.ERR, "sluice: cannot register this worker: ", err)
    return
  end
  await_exit(dict, key)
end

-- A killed worker is still on the list.
local function alive(pid)
  return ffi.C.kill(pid, 0) == 0 or ffi.errno() ~= NO_SUCH_PROCESS
end

local function workers(dict)
  local found = {}
  for _, key in ipairs(dict:get_keys(0)) do
    local load, pid = key:match("^w:(%d+):(%d+)$")
    if load and alive(tonumber(pid)) then
      found[#found + 1] = { load = tonumber(load), pid = tonumber(pid) }
    elseif load then
      dict:delete(key)
    end
  end
  if #found > 0 then -- JSON would make an empty table an object
    return found
  end
end

--- The size of each dictionary and its free bytes, in whole pages.
function _M.memory(dicts)
  local function of(dict)
    return { size = dict:capacity(), free = dict:free_space() }
  end
  return { backends = of(dicts.sluice_backends), certificates = of(dicts.sluice_certificates) }
end

--- The answer to GET /status. Its load is that of this worker; expected is the number of
-- workers in the configuration.
function _M.status(dicts)
  local dict = dicts.sluice_runtime
  return {
    boot = dict:get("boot"),
    load = load_id,
    workers = workers(dict),
    expected = ngx.worker.count(),
    version = dict:get("version") or 0,
    memory = _M.memory(dicts),
  }
end

--- Stores a value. It never evicts another one.
-- @tparam number|nil seconds after which the dictionary drops it
-- @treturn true|nil
-- @treturn string|nil the error; the former value then stays
function _M.store(dict, key, value, seconds)
  local held = dict:get(key)
  if held == value then
    return true
  end
  local left = held and dict:ttl(key) -- 0 without an end
  local ok, err = dict:safe_set(key, value, seconds)
  if ok then
    return true
  end
  if held then
    -- If the length differs, safe_set frees the former value before it looks for
    -- room. Nobody else writes, so that room is still free.
    local back, why = dict:safe_set(key, held, left)
    if not back then
      err = err .. ", and the former value is lost: " .. why
    end
  end
  return nil, err
end

--- Makes all workers read their backends again.
-- @treturn number|nil the new version
-- @treturn string|nil why there is none
function _M.bump(dict)
  local version, err = dict:incr("version", 1, 0)
  if version then
    -- After the dictionary has unlocked what was pushed: who sees this number sees that.
    _M.version(dict)[0] = version
  end
  return version, err
end

return _M
