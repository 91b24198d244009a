--- A try: a request at one endpoint. Its end tells the picker of the backend, and the
-- ejection, how the endpoint did.
local ffi = require("ffi")

local _M = {}

-- seconds is the time of the answer; nil if there was none.
local function finish(try, seconds, failed)
  if try.ended then
    return
  end
  try.ended = true
  local picker, ejects = try.backend.picker, try.backend.ejection
  if picker.left then
    picker:left(try.name, seconds, failed)
  end
  if failed and ejects then
    ejects:failed(try.name)
  end
end

local MARK = ffi.typeof("char[1]")

--- Begins a try. done() ends it, or the garbage collection if nginx has redirected the
-- request internally, which takes its ctx away.
function _M.begin(backend, at)
  local try, picker = { backend = backend, name = backend.keys[at] }, backend.picker
  ngx.ctx.sluice_try = try
  if picker.took then
    picker:took(try.name)
    -- The function must not refer to the ctx, because that would keep it.
    ngx.ctx.sluice_mark = ffi.gc(MARK(), function()
      finish(try)
    end)
  end
end

--- Ends a try after which nginx asks another endpoint.
-- @tparam string failure the state of ngx.balancer's get_last_failure
function _M.passed(failure)
  local try = ngx.ctx.sluice_try
  if try then
    finish(try, nil, failure == "failed")
  end
end

-- The last of the values of an nginx variable, which has one for each try.
local function last(values)
  return values and values:match("([^ ,:]+)$")
end

--- @tparam table var ngx.var of a request that ended
-- @treturn number|nil the seconds of the last endpoint's answer
-- @treturn boolean whether it failed. If the client left first, nobody knows.
function _M.outcome(var)
  if last(var.upstream_header_time) ~= "-" then
    return tonumber(last(var.upstream_response_time)), false
  end
  return nil, var.status ~= "499"
end

--- Ends the last try of a request. For log_by_lua.
function _M.done()
  local try = ngx.ctx.sluice_try
  if try then
    finish(try, _M.outcome(ngx.var))
  end
end

return _M
