--- The turns of endpoints with requests, for pickers and the ejection, which have to know
-- how each one ends.
local base = require("resty.core.base")
local ffi = require("ffi")

local _M = {}

-- The turn of each request, by the address of the request. nginx takes the ctx of a request away
-- when it redirects the request internally, for example to an error page.
local turns = {}

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
      if turns[turn.request] == turn then
        turns[turn.request] = nil
      end
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
  local seconds = tonumber(var.upstream_response_time)
  if seconds then -- one try, as most requests have: LuaJIT does not compile what follows
    if var.upstream_header_time ~= "-" then
      return true, seconds, false
    end
    return true, nil, var.status ~= "499"
  end
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

-- A picker that only counts, without ejection, need not know how a request ended.
local function finish(turn)
  local backend = turn.backend
  if not backend.picker.measures and not backend.ejection then
    return leave(turn)
  end
  local _, seconds, failed = _M.outcome(ngx.var, turn.name)
  return leave(turn, seconds, failed)
end

--- Begins the turn of an endpoint with a request. done() ends it. nginx does not log a subrequest
-- whose client left, so the garbage collection can end its turn, too.
function _M.take(backend, at)
  local request, picker = this_request(), backend.picker
  local before = turns[request]
  if before and not before.left then
    finish(before) -- of a location that redirected the request
  end
  local turn = { backend = backend, name = backend.keys[at], request = request, left = false, mark = false }
  turns[request] = turn
  if picker.took then
    picker:took(turn.name)
  end
  if ngx.is_subrequest then
    ngx.ctx.sluice_mark = _M.mark_of(turn)
  end
end

--- Ends the turn of the endpoint that a request is to leave for another one.
function _M.retry(failed)
  local turn = turns[this_request()]
  if turn then
    leave(turn, nil, failed)
  end
end

--- Ends the turn of the last endpoint. For log_by_lua.
function _M.done()
  local request = this_request()
  local turn = turns[request]
  if turn then
    turns[request] = nil
    finish(turn)
  end
end

return _M
