--- Compares values of any depth.
local cjson = require("cjson.safe")

local _M = {}

local function same(want, got)
  if type(want) ~= "table" or type(got) ~= "table" then
    return want == got
  end
  for key, value in pairs(want) do
    if not same(value, got[key]) then
      return false
    end
  end
  for key in pairs(got) do
    if want[key] == nil then
      return false
    end
  end
  return true
end

local function show(value)
  return type(value) == "table" and cjson.encode(value) or tostring(value)
end

--- Raises an error unless the two are equal.
function _M.equal(want, got, what)
  if not same(want, got) then
    error((what or "value") .. ": want " .. show(want) .. ", got " .. show(got), 2)
  end
end

return _M
