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

local address = 4096

-- Runs a function for each of some subrequests, which nginx does not log.
local function subrequests(count, run)
  local get_request = base.get_request
  for _ = 1, count do
    address = address + 16
    base.get_request = function()
      return ffi.cast("void *", address)
    end
    rawset(ngx, "is_subrequest", true)
    rawset(ngx, "ctx", {})
    run()
  end
  base.get_request = get_request
  rawset(ngx, "is_subrequest", nil)
  rawset(ngx, "ctx", nil)
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

return tests
