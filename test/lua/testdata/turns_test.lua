local expect = require("testdata.expect")
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

return tests
