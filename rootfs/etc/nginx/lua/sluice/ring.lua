--- Consistent hashing: a key always leads to the same name. If a name comes or goes,
-- few keys lead to another one.
--
-- The points are in arrays of C, which take less memory than tables of Lua.
local crc32 = ngx.crc32_long
local ffi = require("ffi")

local _M = {}
local mt = { __index = _M }

local POINTS_OF, OWNERS_OF = ffi.typeof("uint32_t[?]"), ffi.typeof("uint16_t[?]")

-- Each name has POINTS points on the ring, or fewer because of the limit of the ring.
local POINTS = 160

--- @tparam table names an array, never empty, of less than 65536
-- @tparam number most the limit of the points of the ring
function _M.new(names, most)
  local each = math.max(1, math.min(POINTS, math.floor(most / #names)))
  local sorted, owner = {}, {}
  for at, name in ipairs(names) do
    for point = 1, each do
      local hash = crc32(name .. "#" .. point)
      if not owner[hash] then
        owner[hash] = at
        sorted[#sorted + 1] = hash
      end
    end
  end
  table.sort(sorted)
  local points, owners = POINTS_OF(#sorted), OWNERS_OF(#sorted)
  for at, hash in ipairs(sorted) do
    points[at - 1], owners[at - 1] = hash, owner[hash]
  end
  return setmetatable({ points = points, owners = owners, count = #sorted }, mt)
end

--- @treturn number the place of the name whose point comes next
function _M:find(key)
  local points = self.points
  local hash, low, high = crc32(key), 0, self.count - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if points[middle] < hash then
      low = middle + 1
    else
      high = middle
    end
  end
  if points[low] < hash then
    low = 0
  end
  return self.owners[low]
end

return _M
