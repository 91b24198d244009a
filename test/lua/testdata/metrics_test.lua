local expect = require("testdata.expect")
local metrics = require("sluice.metrics")
local queue = require("sluice.queue")

local tests = {}

-- A counter whose datagrams go to a list, as long as takes() says so, and whose timers run on
-- demand.
local function counter(takes)
  local sent, timers = {}, {}
  local c = metrics.new(queue.new(function(data)
    if takes and not takes() then
      return false
    end
    sent[#sent + 1] = data
    return true
  end, function(_, what)
    timers[#timers + 1] = what
    return true
  end, 0.5, 0.005))
  return c, sent, function()
    local due = timers
    timers = {}
    for _, run in ipairs(due) do
      run()
    end
  end
end

-- The lines of datagrams without their heads, sorted, and the sum of the heads.
local function lines(sent)
  local all, lost = {}, 0
  for _, data in ipairs(sent) do
    local head, rest = data:match("^(%d+)\n?(.*)$")
    lost = lost + tonumber(head)
    for line in rest:gmatch("[^\n]+") do
      all[#all + 1] = line
    end
  end
  table.sort(all)
  return all, lost
end

tests["equal requests are counted together, and once"] = function()
  local c, sent, pass = counter()
  c:add("a\tGET")
  c:add("b\tGET")
  c:add("a\tGET")
  expect.equal({}, sent)
  pass()
  expect.equal({ "1\tb\tGET", "2\ta\tGET" }, (lines(sent)))
  pass()
  c:add("a\tGET")
  pass()
  expect.equal({ "1\ta\tGET", "1\tb\tGET", "2\ta\tGET" }, (lines(sent)))
end

tests["nothing is lost while the controller is busy"] = function()
  local busy = true
  local c, sent, pass = counter(function()
    return not busy
  end)
  for i = 1, 3000 do
    c:add("text " .. i .. (" "):rep(100))
    if i % 1000 == 0 then
      pass()
    end
  end
  expect.equal({}, sent)
  busy = false
  pass()
  pass()
  local all, lost = lines(sent)
  expect.equal(3000, #all)
  expect.equal(0, lost)
  for _, data in ipairs(sent) do
    expect.equal(true, #data <= 65536)
  end
end

tests["a part of the datagrams is taken, and the rest later, none twice"] = function()
  local room = 0
  local c, sent, pass = counter(function()
    room = room - 1
    return room >= 0
  end)
  for i = 1, 5000 do
    c:add("text " .. i .. (" "):rep(100))
  end
  for _ = 1, 30 do
    room = 1
    pass()
  end
  expect.equal(5000, #(lines(sent)))
end

tests["what waits is bounded, and what is beyond is counted"] = function()
  local busy = true
  local c, sent, pass = counter(function()
    return not busy
  end)
  for i = 1, 200100 do
    c:add("text " .. i)
  end
  c:add("text 1") -- waits to be sent, so that it is a new text
  c:add(("x"):rep(20000))
  busy = false
  pass()
  pass()
  local all, lost = lines(sent)
  expect.equal(200000, #all)
  expect.equal(102, lost)
end

tests["a worker that ends sends at once, also without timers"] = function()
  local sent = {}
  local c = metrics.new(queue.new(function(data)
    sent[#sent + 1] = data
    return true
  end, function()
    return nil
  end, 0.5, 0.005))
  c:add("a\tGET")
  expect.equal({ "0\n1\ta\tGET" }, sent)
  local busy = 3
  c = metrics.new(queue.new(function(data)
    busy = busy - 1
    if busy >= 0 then
      return false
    end
    sent[#sent + 1] = data
    return true
  end, function()
    return true
  end, 0.5, 0.005))
  c.queue.wait = function()
    return true
  end
  c:add("b\tGET")
  c.queue:leave()
  expect.equal("0\n1\tb\tGET", sent[2])
end

return tests
