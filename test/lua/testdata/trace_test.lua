local expect = require("testdata.expect")
local trace = require("sluice.trace")
local queue = require("sluice.queue")

local tests = {}

local TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
local ID = "0123456789abcdef0123456789abcdef"

local function parsed(header)
  local found, parent, sampled = trace.parse(header)
  return { found, parent, sampled }
end

tests["a traceparent"] = function()
  expect.equal({ TRACE, PARENT, true }, parsed("00-" .. TRACE .. "-" .. PARENT .. "-01"))
  expect.equal({ TRACE, PARENT, false }, parsed("00-" .. TRACE .. "-" .. PARENT .. "-02"))
  expect.equal({ TRACE, PARENT, true }, parsed("01-" .. TRACE .. "-" .. PARENT .. "-03"))
  expect.equal({ TRACE, PARENT, true }, parsed("01-" .. TRACE .. "-" .. PARENT .. "-01-more"))
end

tests["what the standard does not allow is no traceparent"] = function()
  for _, header in ipairs({
    "", "00", "00-" .. TRACE .. "-" .. PARENT, "00-" .. TRACE .. "-" .. PARENT .. "-1", "00-" .. TRACE .. "-" .. PARENT .. "-01-",
    "00-" .. TRACE .. "-" .. PARENT .. "-01, 00-" .. TRACE .. "-" .. PARENT .. "-01",
    "ff-" .. TRACE .. "-" .. PARENT .. "-01", "01-" .. TRACE .. "-" .. PARENT .. "-01more", "0-0" .. TRACE .. "-" .. PARENT .. "-01",
    "00-" .. TRACE:upper() .. "-" .. PARENT .. "-01", "00-" .. ("0"):rep(32) .. "-" .. PARENT .. "-01", "00-" .. TRACE .. "-" .. ("0"):rep(16) .. "-01",
    "00-" .. TRACE .. PARENT .. "--01", "00-" .. TRACE .. "-" .. PARENT .. "-0\n", " 00-" .. TRACE .. "-" .. PARENT .. "-01", ("00-"):rep(20), ("-"):rep(55), ("0"):rep(4000),
  }) do
    expect.equal({}, parsed(header), header)
  end
  expect.equal({}, parsed(nil))
end

tests["a share of traces has spans, by the ID"] = function()
  for id, want in pairs({ ["0000000000000000"] = true, ["7fffffffffffffff"] = true, ["8000000000000000"] = false, ["ffffffffffffffff"] = false }) do
    expect.equal(want, trace.in_share(("a"):rep(16) .. id, 0.5), id)
    expect.equal(true, trace.in_share(("a"):rep(16) .. id, 1), id)
    expect.equal(false, trace.in_share(("a"):rep(16) .. id, 0), id)
  end
end

local function context(how, header)
  local value, recorded, goes_on = trace.context(how, header, ID)
  return { value, recorded, goes_on }
end

tests["a trace goes on, or begins"] = function()
  local sampled, unsampled = "00-" .. TRACE .. "-" .. PARENT .. "-01", "00-" .. TRACE .. "-" .. PARENT .. "-00"
  local seed, nobody = "0123456789abcdef"
  nobody = ("0"):rep(16)
  seed = seed:sub(1, 15) .. "f-"
  local all = { share = 1, trusts = true, parent = true, records = true }
  expect.equal({ "00-" .. ID .. "-" .. seed .. "01" .. nobody, true, false }, context(all))
  expect.equal({ "00-" .. TRACE .. "-" .. seed .. "01" .. PARENT, true, true }, context(all, sampled))
  expect.equal({ "00-" .. TRACE .. "-" .. seed .. "00", false, true }, context(all, unsampled))
  expect.equal({ "00-" .. ID .. "-" .. seed .. "01" .. nobody, true, false }, context({ share = 1, parent = true, records = true }, unsampled))
  expect.equal({ "00-" .. TRACE .. "-" .. seed .. "01" .. PARENT, true, true }, context({ share = 1, trusts = true, records = true }, unsampled))
  expect.equal({ "00-" .. ID .. "-" .. seed .. "00", false, false }, context({ share = 0, trusts = true, parent = true, records = true }))
  expect.equal({ "00-" .. TRACE .. "-" .. seed .. "01", false, true }, context({ share = 0, trusts = true, parent = true }, sampled))
end

tests["the header says before which redirect of nginx a backend is asked"] = function()
  local value = trace.context({ share = 1, records = true }, nil, ID) .. "/x\nname"
  for addresses, digit in pairs({
    [""] = "1", ["10.0.0.1:80"] = "2", ["10.0.0.1:80, 10.0.0.2:80"] = "2", ["10.0.0.1:80 : 10.0.0.2:80"] = "3", [("a : "):rep(50) .. "a"] = "e",
  }) do
    expect.equal("00-" .. ID .. "-0123456789abcde" .. digit .. "-01", trace.header(value, addresses), addresses)
  end
  expect.equal("00-" .. ID .. "-0123456789abcde1-01", trace.header(value))
end

tests["a record is bounded and has no query"] = function()
  local long = ("x"):rep(10000)
  local var = setmetatable({ request_uri = "/a?token=1", upstream_addr = "" }, { __index = function() return long end })
  local record = trace.describe(long, var, false)
  expect.equal("/a", record.uri)
  expect.equal(nil, record.addresses)
  local size = 0
  for _, value in pairs(record) do
    size = size + #value
  end
  assert(size < 5000, "a record has " .. size .. " bytes")
end

-- A queue with a controller that takes or refuses, and timers that the test fires.
local function queued(takes)
  local sent, timers = {}, {}
  local q = queue.new(function(data)
    if takes.all then
      sent[#sent + 1] = data
    end
    return takes.all
  end, function(_, what)
    if takes.ends then
      return nil
    end
    timers[#timers + 1] = what
    return true
  end, 0.5, 0.5)
  return q, sent, function()
    local due = timers
    timers = {}
    for _, what in ipairs(due) do
      what()
    end
    return #due
  end
end

tests["records wait for others"] = function()
  local q, sent, fire = queued({ all = true })
  trace.add(q, { n = 1 })
  trace.add(q, { n = 2 })
  expect.equal({}, sent)
  expect.equal(1, fire())
  expect.equal({ '0\n{"n":1}\n{"n":2}' }, sent)
  expect.equal(0, fire(), "an empty queue has no timer")
end

tests["a worker that ends waits for nothing"] = function()
  local q, sent = queued({ all = true, ends = true })
  trace.add(q, { n = 1 })
  expect.equal({ '0\n{"n":1}' }, sent)
end

tests["without a controller the queue is bounded, and says later what it dropped"] = function()
  local takes = { all = false }
  local q, sent, fire = queued(takes)
  for n = 1, 5000 do
    trace.add(q, { n = n })
  end
  expect.equal(4096, q:count())
  expect.equal(904, q.lost)
  trace.add(q, { text = ("x"):rep(40000) })
  expect.equal(905, q.lost)
  fire()
  expect.equal({}, sent)
  takes.all = true
  fire()
  local first = sent[1] or ""
  assert(first:find('905\n', 1, true) == 1, first:sub(1, 50))
  local lines = 0
  for at, data in ipairs(sent) do
    assert(#data <= 65536, #data)
    assert(at == 1 or data:find('0\n', 1, true) == 1)
    lines = lines + select(2, data:gsub("\n", ""))
  end
  expect.equal(4096, lines)
end

tests["what a slow controller took makes room for others"] = function()
  local takes = { all = false }
  local q, sent, fire = queued(takes)
  for round = 1, 100 do
    for _ = 1, round == 1 and 200 or 60 do -- a datagram has room for 60
      trace.add(q, { text = ("x"):rep(1000) })
    end
    local send = q.send
    q.send = function(data)
      takes.all, q.send = true, function()
        return false
      end
      return send(data)
    end
    fire()
    q.send = send
    takes.all = false
  end
  expect.equal(100, #sent)
  for _, data in ipairs(sent) do
    assert(data:find("0\n", 1, true) == 1, data:sub(1, 20))
  end
  expect.equal(140, q:count())
  expect.equal(140 * 1011, q.bytes)
  local kept = 0
  for _ in pairs(q.lines) do
    kept = kept + 1
  end
  expect.equal(140, kept)
end

tests["large batches do not wait"] = function()
  local q, sent = queued({ all = true })
  for _ = 1, 40 do
    trace.add(q, { text = ("x"):rep(1000) })
  end
  assert(#sent == 1, #sent)
end

tests["after a refusal the next try comes sooner than what waits for others"] = function()
  local seconds = {}
  local q = queue.new(function()
    return false
  end, function(after)
    seconds[#seconds + 1] = after
    return true
  end, 0.5, 0.005)
  q:push("x")
  q:wake(true)
  expect.equal({ 0.005 }, seconds)
end

tests["a socket that nobody reads is no error"] = function()
  local send, wait = require("sluice.socket").open("/nowhere/run/traces.sock")
  expect.equal(false, send("x"))
  expect.equal(false, wait())
  local q = queue.new(send, function() end, 0.5, 0.5)
  q.wait = wait
  trace.add(q, { n = 1 })
  q:leave()
  expect.equal(1, q:count())
end

return tests
