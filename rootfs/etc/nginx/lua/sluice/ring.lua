--- Consistent hashing: a key always leads to the same name. If a name comes or goes,
-- few keys lead to another one.
--
-- The points are those of nginx's consistent hash and of ingress-nginx, so that clients
-- stay with their endpoints when Sluice replaces it.
--
-- The points are in arrays of C, which take less memory than tables of Lua.
local crc32 = ngx.crc32_long
local ffi = require("ffi")

local floor, min, random = math.floor, math.min, math.random

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

local RANGE = 2 ^ 32

-- A step of the search: "at" + "half" if at least so many points are below the hash, else "at".
-- Without a branch, because each outcome of one would be compiled on its own.
local function step(points, last, hash, at, half)
  return at - half * floor((points[min(at + half - 1, last)] - hash) / RANGE)
end

-- The index of the first point from a hash on. The binary search is written out, for up to 2^17
-- points: LuaJIT does not compile what calls a loop.
local function first_from(self, hash)
  local points, last = self.points, self.count - 1
  local at = step(points, last, hash, 0, 65536)
  at = step(points, last, hash, at, 32768)
  at = step(points, last, hash, at, 16384)
  at = step(points, last, hash, at, 8192)
  at = step(points, last, hash, at, 4096)
  at = step(points, last, hash, at, 2048)
  at = step(points, last, hash, at, 1024)
  at = step(points, last, hash, at, 512)
  at = step(points, last, hash, at, 256)
  at = step(points, last, hash, at, 128)
  at = step(points, last, hash, at, 64)
  at = step(points, last, hash, at, 32)
  at = step(points, last, hash, at, 16)
  at = step(points, last, hash, at, 8)
  at = step(points, last, hash, at, 4)
  at = step(points, last, hash, at, 2)
  at = step(points, last, hash, at, 1)
  return at <= last and at or 0
end

--- @treturn number the place of the name whose point comes next
function _M:find(key)
  return self.owners[first_from(self, crc32(key))]
end

-- The first places from an index on, each once, but not those that are out.
local function following(self, at, most, out)
  local seen, places = {}, {}
  for offset = 0, self.count - 1 do
    local place = self.owners[(at + offset) % self.count]
    if not seen[place] and not (out and out[place]) then
      seen[place], places[#places + 1] = true, place
      if #places == most then
        break
      end
    end
  end
  return places
end

--- The first places from that of a key on, each once.
-- @tparam number most the number of places that are enough
-- @tparam table|nil out places to leave out
-- @treturn table an array of at most that number
function _M:first(key, most, out)
  return following(self, first_from(self, crc32(key)), most, out)
end

-- If names share all their points, there are fewer places, and some are kept twice.
local function keep(self, at, most)
  local places = following(self, at, most)
  for offset = 0, most - 1 do
    self.kept[at * most + offset] = places[offset % #places + 1]
  end
end

--- One of the first places from that of a key on, by chance.
-- @tparam number most the number of places to choose from: the same at each call, and not more
-- than there are names
function _M:one_of(key, most)
  self.kept = self.kept or OWNERS_OF(self.count * most)
  local at = first_from(self, crc32(key))
  if self.kept[at * most] == 0 then -- no place is 0
    keep(self, at, most)
  end
  return self.kept[at * most + random(most) - 1]
end

return _M
