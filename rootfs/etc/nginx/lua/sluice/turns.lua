--- The turns of endpoints with requests, for pickers and the ejection, which have to know
-- how each one ends.
local base = require("resty.core.base")
local ffi = require("ffi")

local _M = {}

-- The turn of each request, by the address of the request. nginx takes the ctx of a request away
-- when it redirects the request internally, for example to an error page. A turn that has ended
-- has no backend, and stays for the next request at that address, which need not make one.
local turns = {}

-- known is the number of turns in the table. When it reaches most, those that have ended are dropped.
local KEPT = 1000
local known, most = 0, KEPT

-- The turns that a mark ends, by the number of their mark.
local marked, marks = {}, 0

local function unmark(turn)
  marked[turn.mark] = nil
  turn.mark = false
end

--- Ends a turn. seconds is the time of the answer; nil if there was none.
function _M.leave(turn, seconds, failed)
  local backend = turn.backend
  if not backend then
    return
  end
  turn.backend = false
  if turn.mark then
    unmark(turn)
  end
  local picker, ejects = backend.picker, backend.ejection
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

local DOT, ZERO = 46, 48

-- The seconds in a value of nginx, such as "0.015"; nil if there are none, or several. LuaJIT takes
-- 1,600 instructions to read a number with a point.
local function seconds_in(value)
  if not value or #value ~= 5 then
    return tonumber(value)
  end
  local ones, dot, tenths, hundredths, thousandths = value:byte(1, 5)
  if dot ~= DOT then
    return tonumber(value)
  end
  return (ones * 1000 + tenths * 100 + hundredths * 10 + thousandths - 1111 * ZERO) / 1000
end

--- The outcome of the last try that was sent to an endpoint before an internal redirect.
-- @tparam table var ngx.var of the request
-- @treturn boolean whether there was such a try
-- @treturn number|nil the seconds of the answer
-- @treturn boolean whether it failed. If the client left first, nobody knows.
function _M.outcome(var, name)
  local seconds = seconds_in(var.upstream_response_time)
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

-- Whether a turn is that of a subrequest that nginx did not log, at whose address there is another
-- request now. The mark of a turn is in the ctx of its subrequest.
local function is_stale(turn)
  local mark = ngx.ctx.sluice_mark
  return not mark or mark.number ~= turn.mark
end

-- A picker that only counts, without ejection, need not know how a request ended.
local function finish(turn)
  local backend = turn.backend
  if not backend.picker.measures and not backend.ejection or turn.mark and is_stale(turn) then
    return leave(turn)
  end
  local _, seconds, failed = _M.outcome(ngx.var, turn.name)
  return leave(turn, seconds, failed)
end

-- Drops the turns that have ended. The next time is at twice as many as have not, so that a pass
-- over the table always drops many.
local function forget()
  known = 0
  for address, turn in pairs(turns) do
    if turn.backend then
      known = known + 1
    else
      turns[address] = nil
    end
  end
  most = math.max(KEPT, 2 * known)
end

local function new_turn(address)
  if known >= most then
    forget()
  end
  local turn = { backend = false, name = "", mark = false }
  turns[address], known = turn, known + 1
  return turn
end

--- Begins the turn of an endpoint with a request. done() ends it. nginx does not log a subrequest
-- whose client left, so the garbage collection can end its turn, too.
function _M.take(backend, at)
  local address, picker = this_request(), backend.picker
  local turn = turns[address] or new_turn(address)
  if turn.backend then
    finish(turn) -- of a location that redirected the request
  end
  turn.backend, turn.name = backend, backend.keys[at]
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
  local turn = turns[this_request()]
  if turn and turn.backend then
    finish(turn)
  end
end

return _M
