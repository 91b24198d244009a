--- Continues or begins the traces of requests (W3C Trace Context), and records their spans.
--
-- A request has this value in $opentelemetry:
--   "00-<trace>-<seed>f-<flags>"                       without a span
--   "00-<trace>-<seed>f-01<parent><path>\n<name>"      with one
-- <trace> has 32 digits, <seed> 15, <parent> 16: those of the client's span, or zeros. The
-- span of the request is <seed>0, that of a question to a server that authenticates <seed>f,
-- which is why the value begins with the header for it. The last try at a backend is
-- <seed>1, and in the locations to which nginx redirects a request after that <seed>2 to
-- <seed>e. The digits are those of $request_id, so a new trace has the ID of the request.
-- internal/tracing reads the records.
local cjson = require("cjson.safe")
local queue = require("sluice.queue")

local _M = {}

local NOBODY = ("0"):rep(16)
local CONTEXT = 55 -- the length of a traceparent
local DIGITS = "0123456789abcde"

--- Reads a traceparent.
-- Source: https://www.w3.org/TR/trace-context/#traceparent-header
-- @tparam string|nil header
-- @treturn string|nil the ID of the trace; nil if the header is not valid
-- @treturn string the ID of the client's span
-- @treturn boolean whether the client records it
function _M.parse(header)
  if not header or #header < CONTEXT then
    return nil
  end
  local version, trace, parent, flags = header:sub(1, CONTEXT):match("^([0-9a-f]+)%-([0-9a-f]+)%-([0-9a-f]+)%-([0-9a-f]+)$")
  if not version or #version ~= 2 or #trace ~= 32 or #parent ~= 16 or version == "ff" then
    return nil
  end
  if #header > CONTEXT and (version == "00" or header:sub(CONTEXT + 1, CONTEXT + 1) ~= "-") then
    return nil
  end
  if not trace:find("[^0]") or not parent:find("[^0]") then
    return nil
  end
  return trace, parent, tonumber(flags, 16) % 2 == 1
end

--- Reports whether a trace is in a share. Other services with the same share decide alike.
-- Source: https://opentelemetry.io/docs/specs/otel/trace/sdk/#traceidratiobased
-- @tparam string trace
-- @tparam number share from 0 to 1
function _M.in_share(trace, share)
  return tonumber(trace:sub(17, 29), 16) / 2 ^ 52 < share
end

-- The words of a location, decoded, by their text. There are few.
local decoded = {}

local function decode(text)
  local how = {
    share = tonumber(text:match("^share=(%S+)")) or 0,
    trusts = text:find(" trusts", 1, true) ~= nil,
    parent = text:find(" parent", 1, true) ~= nil,
    records = text:find(" records", 1, true) ~= nil,
  }
  decoded[text] = how
  return how
end

--- The value of $opentelemetry for a request.
-- @tparam table how {share, trusts, parent, records}
-- @tparam string|nil header traceparent
-- @tparam string id 32 random digits
-- @treturn string the value, for a span without path and name
-- @treturn boolean whether it has a span
-- @treturn boolean whether the client's trace goes on
function _M.context(how, header, id)
  local trace, parent, sampled
  if how.trusts then
    trace, parent, sampled = _M.parse(header)
  end
  local goes_on = trace ~= nil
  trace = trace or id
  if not (goes_on and how.parent) then
    sampled = _M.in_share(trace, how.share)
  end
  local value = "00-" .. trace .. "-" .. id:sub(1, 15) .. "f-" .. (sampled and "01" or "00")
  if sampled and how.records then
    return value .. (parent or NOBODY), true, goes_on
  end
  return value, false, goes_on
end

-- The number of times that nginx has redirected a request after it asked a backend.
local function redirects(addresses)
  if not addresses or addresses == "" then
    return 0
  end
  local _, count = addresses:gsub(" : ", "")
  return count + 1
end

--- The header for the backend of a location.
-- @tparam string context the value of $opentelemetry
-- @tparam string|nil addresses the value of $upstream_addr
function _M.header(context, addresses)
  local at = math.min(redirects(addresses) + 2, #DIGITS)
  return context:sub(1, 51) .. DIGITS:sub(at, at) .. context:sub(53, CONTEXT)
end

--- Continues or begins the trace of a request. For set_by_lua.
-- @tparam table arg how, the path of the rule, and the name of the span
function _M.begin(arg)
  local var = ngx.var
  local context = var.opentelemetry
  if not context or context == "" then
    local text = arg[1]
    local recorded, goes_on
    context, recorded, goes_on = _M.context(decoded[text] or decode(text), var.http_traceparent, var.request_id)
    if recorded then
      context = context .. (arg[2] or "") .. "\n" .. (arg[3] or "")
    end
    if not goes_on and var.http_tracestate then
      ngx.req.clear_header("tracestate")
    end
    ngx.req.set_header("traceparent", _M.header(context))
  else -- from another location
    ngx.req.set_header("traceparent", _M.header(context, var.upstream_addr))
  end
  return context
end

-- The parts of $opentelemetry: the header of a question, and those of the span of the request, as the
-- variables of the module of ingress-nginx have them.
local PARTS = {
  question = function(context) return context:sub(1, CONTEXT) end,
  trace_id = function(context) return context:sub(4, 35) end,
  span_id = function(context) return context:sub(37, 51) .. "0" end,
  context_traceparent = function(context) return context:sub(1, 51) .. "0" .. context:sub(53, CONTEXT) end,
}

--- A part of the context of a request. For set_by_lua.
-- @tparam table arg the name of the part
-- @treturn string "" if there is no context
function _M.part(arg)
  local context = ngx.var.opentelemetry
  if not context or context == "" then
    return ""
  end
  return PARTS[arg[1]](context)
end

-- The variables of a record by their names in it, and the most bytes of each.
local FIELDS = {
  method = { "request_method", 20 }, scheme = { "scheme", 10 }, host = { "host", 255 }, uri = { "request_uri", 512 },
  protocol = { "server_protocol", 10 }, status = { "status", 3 }, client = { "remote_addr", 64 }, agent = { "http_user_agent", 256 },
  route = { "route", 700 }, canary = { "proxy_alternative_upstream_name", 300 }, state = { "http_tracestate", 512 },
  addresses = { "upstream_addr", 1000 }, statuses = { "upstream_status", 500 }, times = { "upstream_response_time", 500 },
}
local FIELDS_OF_QUESTION = { host = FIELDS.host, state = FIELDS.state, addresses = FIELDS.addresses, statuses = FIELDS.statuses, times = FIELDS.times }

--- The record of a request or a question.
-- @tparam string context the value of $opentelemetry
-- @tparam table var ngx.var of it
function _M.describe(context, var, is_question)
  local record = { context = context:sub(1, CONTEXT + 900), question = is_question or nil }
  for name, field in pairs(is_question and FIELDS_OF_QUESTION or FIELDS) do
    local value = var[field[1]]
    if value and value ~= "" then
      record[name] = value:sub(1, field[2])
    end
  end
  if record.uri then
    record.uri = record.uri:match("^[^?#]*")
  end
  return record
end

-- At most MOST records of together MOST_BYTES wait, each of at most LINE_BYTES. MANY_BYTES are sent at
-- once, less after DELAY seconds.
local MOST, MOST_BYTES, LINE_BYTES, MANY_BYTES, DELAY = 4096, 2 ^ 21, 32768, 32768, 0.5

--- Adds a record to a queue.lua. One without room is lost.
function _M.add(waiting, record)
  local line = cjson.encode(record)
  if not line or waiting:count() >= MOST or waiting.bytes + #line > MOST_BYTES or #line > LINE_BYTES then
    waiting:lose()
    return
  end
  waiting:push(line)
  waiting:wake(waiting.bytes >= MANY_BYTES)
end

-- The records of this worker, made at its first span.
local worker

--- Records a span. For log_by_lua.
function _M.record()
  local var = ngx.var
  local context = var.opentelemetry
  if not context or #context <= CONTEXT then
    return
  end
  local question = ngx.is_subrequest
  if question and not var.upstream_addr then
    return -- the answer is a kept one
  end
  local record = _M.describe(context, var, question)
  record.from, record.to = ngx.req.start_time(), ngx.now()
  worker = worker or queue.to(ngx.config.prefix() .. "run/traces.sock", DELAY, DELAY)
  _M.add(worker, record)
end

--- Sends what waits, before the worker ends. For exit_worker_by_lua.
function _M.leave()
  if worker then
    worker:leave()
  end
end

return _M
