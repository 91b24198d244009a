--- The turns of endpoints with requests, for pickers and the ejection, which have to know
-- how each one ends.
local base = require("resty.core.base")
local ffi = require("ffi")

local _M = {}

-- The turns that a mark ends, by the number of their mark.
local marked, marks = {}, 0

--- Ends a turn. seconds is the time of the answer; nil if there was none.
function _M.leave(turn, seconds, failed)
  if turn.left then
    return
  end
  turn.left = true
  if turn.mark then
    marked[turn.mark] = nil
  end
  local picker, ejects = turn.backend.picker, turn.backend.ejection
  if picker.left then
    picker:left(turn.name, seconds, failed)
  end
  if failed and ejects then
    ejects:failed(turn.name)
  end
end

local leave = _M.leave

-- Ends its turn when it is collected. LuaJIT compiles this, but neither ffi.gc nor a function for
-- each request.
local Mark = ffi.metatype("struct { double number; }", {
  __gc = function(mark)
    local turn = marked[mark.number]
    if turn then
      leave(turn)
    end
  end,
})

--- Makes the mark of a turn, for the ctx of its request. It must not refer to that ctx, because
-- that would keep it.
function _M.mark_of(turn)
  marks = marks + 1
  turn.mark, marked[marks] = marks, turn
  return Mark(marks)
end

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
  local all = var.upstream_addr
  if all == name then -- one try, as most requests have: LuaJIT does not compile what follows
    if var.upstream_header_time ~= "-" then
      return true, tonumber(var.upstream_response_time), false
    end
    return true, nil, var.status ~= "499"
  end
  local addresses = parts(all)
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
  local turn, picker, request, ctx = { backend = backend, name = backend.keys[at] }, backend.picker, this_request(), ngx.ctx
  local before = not ctx.sluice_turn and latest[request]
  if before and not before.left then
    finish(before) -- of a location that redirected the request
  end
  ctx.sluice_turn, latest[request] = turn, turn
  if picker.took then
    picker:took(turn.name)
    ctx.sluice_mark = _M.mark_of(turn)
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
