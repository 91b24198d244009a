--- What all workers of one nginx share: which nginx it is, which of its
-- workers accept connections, and the version of what it was told.
--
-- The dictionary sluice_runtime holds:
--   boot           who this nginx is, for as long as its dictionaries live
--   load           how often a configuration was loaded
--   version        grows with every push
--   w:<load>:<pid> a worker that accepts connections
local ffi = require("ffi")

ffi.cdef("int kill(int32_t pid, int sig);")

local _M = {}

local DAY = 86400
local NO_SUCH_PROCESS = 3 -- ESRCH

-- The key of a dictionary by which it is known that nothing was lost; of no backend
-- and no certificate.
_M.MARK = "kept"

-- Set in the master while it loads a configuration; its workers inherit it.
local load_id

local function random_id()
  local source = assert(io.open("/dev/urandom", "rb"))
  local bytes = source:read(16)
  source:close()
  return (bytes:gsub(".", function(byte)
    return string.format("%02x", byte:byte())
  end))
end

-- A dictionary of another size than before is a new one.
local function is_new(dict)
  return (dict:safe_add(_M.MARK, true))
end

--- Counts a load of the configuration and names this nginx at its first one, and
-- anew if a dictionary was emptied: all of it has to be pushed again then.
-- Belongs into init_by_lua.
function _M.boot(dicts)
  local dict = dicts.sluice_runtime
  local backends, certificates = is_new(dicts.sluice_backends), is_new(dicts.sluice_certificates)
  if backends or certificates then
    dict:safe_set("boot", random_id())
  end
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

--- Enters this worker among those that accept connections. nginx ends timers
-- early right after it closed a worker's listening sockets, which is when the
-- worker is taken off the list. Belongs into init_worker_by_lua.
function _M.register(dict)
  if not ngx.worker.id() then
    return -- a cache process, which accepts nothing
  end
  -- All workers are forked from one Lua state and would draw alike.
  math.randomseed(ngx.worker.pid() + ngx.now() * 1000)
  local key = "w:" .. load_id .. ":" .. ngx.worker.pid()
  local ok, err = dict:safe_set(key, true)
  if not ok then
    ngx.log(ngx.ERR, "sluice: cannot register this worker: ", err)
    return
  end
  await_exit(dict, key)
end

-- A worker that was killed could not take itself off the list.
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
  if #found > 0 then -- an empty table would be encoded as an object
    return found
  end
end

--- How many bytes of each dictionary there are, and how many are free. nginx
-- counts whole pages as used.
function _M.memory(dicts)
  local function of(dict)
    return { size = dict:capacity(), free = dict:free_space() }
  end
  return { backends = of(dicts.sluice_backends), certificates = of(dicts.sluice_certificates) }
end

--- What is answered to "who are you": boot, load of the answering worker,
-- workers that accept, how many of them the configuration wants, version, memory.
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

--- Writes a value without ever pushing out another one.
-- @treturn true|nil
-- @treturn string|nil why it could not be stored; what was held is held still
function _M.store(dict, key, value)
  local held = dict:get(key)
  if held == value then
    return true
  end
  local ok, err = dict:safe_set(key, value)
  if ok then
    return true
  end
  if held then
    -- safe_set gives the room of a value of another length away before it
    -- looks for new room; nobody else writes, so it is free still.
    local back, why = dict:safe_set(key, held)
    if not back then
      err = err .. ", and the former value is lost: " .. why
    end
  end
  return nil, err
end

--- Makes all workers look again at what they cached.
-- @treturn number|nil the new version
-- @treturn string|nil why there is none
function _M.bump(dict)
  return dict:incr("version", 1, 0)
end

return _M
