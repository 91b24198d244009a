--- Consistent hashing: a key always leads to the same name. If a name comes or goes,
-- few keys lead to another one.
--
-- The points are those of nginx's consistent hash and of ingress-nginx, so that clients
-- stay with their endpoints when Sluice replaces it.
--
-- The points are in arrays of C, which take less memory than tables of Lua.
local crc32 = ngx.crc32_long
local ffi = require("ffi")

local _M = {}
local mt = { __index = _M }

local POINTS_OF, OWNERS_OF = ffi.typeof("uint32_t[?]"), ffi.typeof("uint16_t[?]")

-- Each name has POINTS points on the ring, or fewer because of the limit of the ring.
local POINTS = 160

-- The bytes of a number, the lowest first.
local function bytes_of(number)
  local bytes = {}
  for at = 1, 4 do
    bytes[at] = string.char(number % 256)
    number = math.floor(number / 256)
  end
  return table.concat(bytes)
end

--- @tparam table names an array, never empty, of less than 65536
-- @tparam number most the limit of the points of the ring
function _M.new(names, most)
  local each = math.max(1, math.min(POINTS, math.floor(most / #names)))
  local sorted, owner = {}, {}
  for at, name in ipairs(names) do
    local hash = 0
    for _ = 1, each do
      hash = crc32(name .. bytes_of(hash))
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

-- The index of the first point from a hash on.
local function first_from(self, hash)
  local points = self.points
  local low, high = 0, self.count - 1
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
  return low
end

--- @treturn number the place of the name whose point comes next
function _M:find(key)
  return self.owners[first_from(self, crc32(key))]
end

--- The first places from that of a key on, each once.
-- @tparam number most the number of places that are enough
-- @tparam table|nil out places to leave out
-- @treturn table an array of at most that number
function _M:first(key, most, out)
  local at, seen, places = first_from(self, crc32(key)), {}, {}
  for step = 0, self.count - 1 do
    local place = self.owners[(at + step) % self.count]
    if not seen[place] and not (out and out[place]) then
      seen[place], places[#places + 1] = true, place
      if #places == most then
        break
      end
    end
  end
  return places
end

return _M
