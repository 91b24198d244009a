local base = require("resty.core.base")
local expect = require("testdata.expect")
local ffi = require("ffi")
local turns = require("sluice.turns")

local tests = {}

local A, B = "10.0.0.1:80", "10.0.0.2:80"

local function var(addresses, header, response, status)
  return { upstream_addr = addresses, upstream_header_time = header, upstream_response_time = response, status = status }
end

local function outcome(...)
  return { turns.outcome(...) }
end

tests["the outcome of one try"] = function()
  expect.equal({ true, 0.25, false }, outcome(var(A, "0.200", "0.250", "200"), A))
  expect.equal({ true, nil, true }, outcome(var(A, "-", "1.000", "502"), A), "no answer")
  expect.equal({ true, nil, false }, outcome(var(A, "-", "1.000", "499"), A), "the client left")
  expect.equal({ false }, outcome({}, A), "no try")
end

tests["the outcome of the last of several tries"] = function()
  expect.equal({ true, 0.5, false }, outcome(var(A .. ", " .. B, "-, 0.400", "1.000, 0.500", "200"), B))
  expect.equal({ false }, outcome(var(A .. ", " .. B, "-, 0.400", "1.000, 0.500", "200"), A))
  expect.equal({ true, 0.5, false }, outcome(var(A .. " : 10.0.0.9:80", "0.400 : 0.100", "0.500 : 0.100", "404"), A), "before a redirect")
  expect.equal({ false }, outcome(var(A .. " : 10.0.0.9:80", "0.400 : 0.100", "0.500 : 0.100", "404"), B), "another endpoint")
end

-- A backend that counts its requests, as pickers do.
local function counting()
  local open = 0
  return {
    keys = { A },
    picker = {
      took = function()
        open = open + 1
      end,
      left = function()
        open = open - 1
      end,
    },
    open = function()
      return open
    end,
  }
end

tests["a turn ends once"] = function()
  local backend = counting()
  local turn = { backend = backend, name = A }
  backend.picker.took()
  turns.leave(turn, nil, false)
  turns.leave(turn, nil, false)
  expect.equal(0, backend.open())
end

tests["a mark that is collected ends its turn"] = function()
  local backend = counting()
  for _ = 1, 300 do
    local turn = { backend = backend, name = A }
    backend.picker.took()
    turns.mark_of(turn)
  end
  expect.equal(300, backend.open())
  collectgarbage()
  collectgarbage()
  expect.equal(0, backend.open())
end

tests["a turn that has ended is not ended by its mark"] = function()
  local backend = counting()
  local turn = { backend = backend, name = A }
  backend.picker.took()
  local mark = turns.mark_of(turn)
  turns.leave(turn, 1, false)
  mark = nil
  collectgarbage()
  collectgarbage()
  expect.equal(0, backend.open())
end

local get_request = base.get_request

-- Runs a function as a request at an address.
local function as_request(address, values, run)
  local var = ngx.var
  base.get_request = function()
    return ffi.cast("void *", address)
  end
  rawset(ngx, "is_subrequest", values.is_subrequest or false)
  rawset(ngx, "ctx", values.ctx or {})
  ngx.var = values.var or {}
  local ok, err = pcall(run)
  base.get_request, ngx.var = get_request, var
  rawset(ngx, "is_subrequest", nil)
  rawset(ngx, "ctx", nil)
  assert(ok, err)
end

local address = 4096

-- Runs a function for each of some subrequests, which nginx does not log.
local function subrequests(count, run)
  for _ = 1, count do
    address = address + 16
    as_request(address, { is_subrequest = true }, run)
  end
end

tests["a subrequest that nginx does not log is forgotten, also by a picker that only measures"] = function()
  local measuring = { measures = true, left = function() end }
  local kept, counts = setmetatable({}, { __mode = "k" }), counting()
  subrequests(300, function()
    local backend = { keys = { A }, picker = measuring }
    kept[backend] = true
    turns.take(backend, 1)
  end)
  subrequests(300, function()
    turns.take(counts, 1)
  end)
  for _ = 1, 3 do
    collectgarbage()
  end
  expect.equal(0, counts.open())
  assert(next(kept) == nil, "what belongs to requests that have ended is kept")
end

-- A backend whose picker keeps the seconds of answers.
local function learning(learned)
  return {
    keys = { A },
    picker = {
      measures = true,
      left = function(_, _, seconds)
        learned[#learned + 1] = seconds or "nothing"
      end,
    },
  }
end

tests["the seconds of an answer are read"] = function()
  for text, seconds in pairs({ ["0.000"] = 0, ["0.007"] = 0.007, ["9.876"] = 9.876, ["12.340"] = 12.34, ["100.0"] = 100 }) do
    expect.equal({ true, seconds, false }, outcome(var(A, text, text, "200"), A), text)
  end
end

tests["a subrequest that nginx logs teaches its picker"] = function()
  local learned, values = {}, { is_subrequest = true, ctx = {}, var = var(A, "0.200", "0.250", "200") }
  as_request(16, values, function()
    turns.take(learning(learned), 1)
  end)
  as_request(16, values, turns.done)
  expect.equal({ 0.25 }, learned)
end

tests["a request teaches nothing for a subrequest at its address that nginx did not log"] = function()
  local learned, backend = {}, nil
  backend = learning(learned)
  local function take()
    turns.take(backend, 1)
  end
  as_request(16, { is_subrequest = true }, take)
  as_request(16, { var = var(B, "0.200", "0.250", "200") }, turns.done)
  expect.equal({ "nothing" }, learned)
  as_request(16, { is_subrequest = true }, take)
  as_request(16, { is_subrequest = true, var = var(B, "0.200", "0.250", "200") }, turns.done)
  expect.equal({ "nothing", "nothing" }, learned, "another subrequest")
  as_request(16, { is_subrequest = true }, take)
  as_request(16, { var = var(B .. " : ", "0.200 : -", "0.250 : -", "200") }, take)
  expect.equal({ "nothing", "nothing", "nothing" }, learned, "a request that was redirected")
end

tests["requests at many addresses do not take memory when they have ended"] = function()
  local backend = counting()
  collectgarbage()
  local before = collectgarbage("count")
  for at = 1, 20000 do
    local function take()
      turns.take(backend, 1)
    end
    as_request(16 * at, {}, take)
    as_request(16 * at, {}, turns.done)
  end
  expect.equal(0, backend.open())
  collectgarbage()
  local grown = collectgarbage("count") - before
  assert(grown < 1000, grown .. " kB are kept")
end

tests["turns that have not ended outlive those that have"] = function()
  local backend = counting()
  local function take()
    turns.take(backend, 1)
  end
  for at = 1, 3000 do
    as_request(16 * at, {}, take)
    if at % 2 == 0 then
      as_request(16 * at, {}, turns.done)
    end
  end
  expect.equal(1500, backend.open())
  for at = 1, 3000, 2 do
    as_request(16 * at, {}, turns.done)
  end
  expect.equal(0, backend.open())
end

return tests
