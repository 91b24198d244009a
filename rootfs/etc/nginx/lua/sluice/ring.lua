--- Consistent hashing: a key always leads to the same of several names, and if one
-- name comes or goes, few keys lead elsewhere.
local crc32 = ngx.crc32_long

local _M = {}
local mt = { __index = _M }

-- Each name has so many points on the ring, or, of many names, so many that all
-- together are no more than MOST.
local POINTS, MOST = 160, 20000

--- @tparam table names an array, never empty
function _M.new(names)
  local each = math.max(1, math.min(POINTS, math.floor(MOST / #names)))
  local points, owner = {}, {}
  for at, name in ipairs(names) do
    for point = 1, each do
      local hash = crc32(name .. "#" .. point)
      if not owner[hash] then
        owner[hash] = at
        points[#points + 1] = hash
      end
    end
  end
  table.sort(points)
  return setmetatable({ points = points, owner = owner }, mt)
end

--- @treturn number the place of the name whose point comes next
function _M:find(key)
  local points = self.points
  local hash, low, high = crc32(key), 1, #points
  while low < high do
    local middle = math.floor((low + high) / 2)
    if points[middle] < hash then
      low = middle + 1
    else
      high = middle
    end
  end
  if points[low] < hash then
    low = 1
  end
  return self.owner[points[low]]
end

return _M
