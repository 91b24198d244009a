--- Reads the bytecode of every module for the names of globals.
local bit = require("bit")
local jutil = require("jit.util")

local KNOWN = {}
for name in ("assert io ipairs math ngx os package pairs pcall require setmetatable string table tonumber tostring type"):gmatch("%S+") do
  KNOWN[name] = true
end

local ROOT = ngx.config.prefix() .. "sluice/"

local function opcode(chunk, pc)
  return bit.band(jutil.funcbc(chunk, pc), 0xff)
end

local GET = opcode(assert(loadstring("return x")), 1)
local SET = opcode(assert(loadstring("x = 1")), 2)

-- Calls visit(opcode, name) for each global of a function and those within it.
local function globals(func, visit)
  local pc = 1
  local instruction = jutil.funcbc(func, pc)
  while instruction do
    local op = bit.band(instruction, 0xff)
    if op == GET or op == SET then
      visit(op, jutil.funck(func, -bit.rshift(instruction, 16) - 1))
    end
    pc = pc + 1
    instruction = jutil.funcbc(func, pc)
  end
  local constant = -1
  local value = jutil.funck(func, constant)
  while value ~= nil do
    if type(value) == "proto" then
      globals(value, visit)
    end
    constant = constant - 1
    value = jutil.funck(func, constant)
  end
end

local tests = {}

tests["a global is found wherever it is"] = function()
  local found = {}
  globals(assert(loadstring("local function f() return function() leak = seen end end return f")), function(op, name)
    found[name] = op
  end)
  assert(found.leak == SET and found.seen == GET, "the reader of bytecode does not see globals")
end

for path in io.popen("find " .. ROOT .. " -name '*.lua'"):lines() do
  tests[path:sub(#ROOT + 1) .. " sets no global and reads only the known"] = function()
    globals(assert(loadfile(path)), function(op, name)
      assert(op ~= SET, "sets " .. name)
      assert(KNOWN[name], "reads " .. name)
    end)
  end
end

return tests
