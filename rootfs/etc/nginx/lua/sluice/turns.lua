--- The turns of endpoints with requests, for pickers and the ejection, which have to know
-- how each one ends.
local base = require("resty.core.base")
local ffi = require("ffi")

local _M = {}

--- Ends a turn. seconds is the time of the answer; nil if there was none.
function _M.leave(turn, seconds, failed)
  if turn.left then
    return
  end
  turn.left = true
  local picker, ejects = turn.backend.picker, turn.backend.ejection
  if picker.left then
    picker:left(turn.name, seconds, failed)
  end
  if failed and ejects then
    ejects:failed(turn.name)
  end
end

local leave = _M.leave
local MARK = ffi.typeof("char[1]")

-- The latest turn of each request, by the address of the request: nginx takes the ctx away
-- when it redirects a request internally, for example to an error page. That ctx is kept
-- until the request has ended, and so is its turn.
local latest = setmetatable({}, { __mode = "v" })

local function this_request()
  return tonumber(ffi.cast("uintptr_t", base.get_request()))
end

-- The last of the values of an nginx variable, which has one for each try.
local function last(values)
  return values and values:match("([^ ,]+)[ ,]*$")
end

-- The part of the values of an nginx variable before and after each internal redirect.
local function parts(values)
  local out = {}
  for part in ((values or "") .. " : "):gmatch("(.-) : ") do
    out[#out + 1] = part
  end
  return out
end

--- The outcome of the last try that was sent to an endpoint before an internal redirect.
-- @tparam table var ngx.var of the request
-- @treturn boolean whether there was such a try
-- @treturn number|nil the seconds of the answer
-- @treturn boolean whether it failed. If the client left first, nobody knows.
function _M.outcome(var, name)
  local addresses = parts(var.upstream_addr)
  for at = #addresses, 1, -1 do
    if last(addresses[at]) == name then
      if last(parts(var.upstream_header_time)[at]) ~= "-" then
        return true, tonumber(last(parts(var.upstream_response_time)[at])), false
      end
      return true, nil, var.status ~= "499"
    end
  end
  return false
end

local function finish(turn)
  local found, seconds, failed = _M.outcome(ngx.var, turn.name)
  if found then
    leave(turn, seconds, failed)
  end
end

--- Begins the turn of an endpoint with a request. done() ends it, or the garbage collection
-- if the request ends in a location without done().
function _M.take(backend, at)
  local turn, picker, request = { backend = backend, name = backend.keys[at] }, backend.picker, this_request()
  local before = not ngx.ctx.sluice_turn and latest[request]
  if before and not before.left then
    finish(before) -- of a location that redirected the request
  end
  ngx.ctx.sluice_turn, latest[request] = turn, turn
  if picker.took then
    picker:took(turn.name)
    -- The function must not refer to the ctx, because that would keep it.
    ngx.ctx.sluice_mark = ffi.gc(MARK(), function()
      leave(turn)
    end)
  end
end

--- Ends the turn of the last endpoint. For log_by_lua.
function _M.done()
  local request = this_request()
  local turn = ngx.ctx.sluice_turn or latest[request]
  if turn and not turn.left then
    finish(turn)
  end
  latest[request] = nil
end

return _M
