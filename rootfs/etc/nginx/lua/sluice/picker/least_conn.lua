--- Picks the endpoint with the fewest requests that it has not answered yet; of several
-- such endpoints, each in turn. Each worker counts its own requests.
local ffi = require("ffi")

-- A wchar_t of Linux has 32 bits.
ffi.cdef([[
int32_t *wmemchr(const int32_t *in, int32_t number, size_t count);
]])

local COUNTS_OF = ffi.typeof("int32_t[?]")

local _M = {}
local mt = { __index = _M }

-- The counts outlive the picker: requests that were sent before a push end after it.
-- So former pickers of the backend count for the newest one, which line names.
function _M.new(endpoints, _, before)
  local self = setmetatable({
    names = endpoints.names, count = endpoints.count,
    open = before and before.open or {}, -- by name, never 0
    counts = COUNTS_OF(endpoints.count), -- the same by place, from 0
    fewest = 0, -- no endpoint has fewer requests; one need not have so few
    last = before and before.last % endpoints.count or math.random(endpoints.count) - 1,
    line = before and before.line or {},
  }, mt)
  for at, name in ipairs(endpoints.keys) do
    self.counts[at - 1] = self.open[name] or 0
  end
  self.line.newest = self
  return self
end

-- The next place in turn of those that are not out and have the fewest.
local function least(self, out)
  local found
  for step = 0, self.count - 1 do
    local at = (self.last + step) % self.count + 1
    if not (out and out[at]) and (not found or self.counts[at - 1] < self.counts[found - 1]) then
      found = at
    end
  end
  return found
end

-- The next place in turn with a number of requests. C looks for it, because LuaJIT does not
-- compile what calls a loop.
local function with(self, number)
  local counts, last = self.counts, self.last
  local found = ffi.C.wmemchr(counts + last, number, self.count - last)
  if found == nil then
    found = ffi.C.wmemchr(counts, number, last)
  end
  return found ~= nil and found - counts + 1 or nil
end

-- The next place in turn of those that have the fewest. If none has as few as before, one more is
-- the usual case. The garbage collection can end a turn meanwhile: then another one may have fewer.
local function idlest(self)
  local fewest = self.fewest
  self.fewest = math.huge
  local at = with(self, fewest) or with(self, fewest + 1) or least(self)
  self.fewest = math.min(self.fewest, self.counts[at - 1])
  return at
end

function _M:pick(tried, _, shunned)
  local out = shunned or tried
  local at = out and least(self, out) or idlest(self)
  self.last = at
  return at
end

-- Counts the requests of an endpoint, which may be gone.
local function set(self, name, open)
  self.open[name] = open > 0 and open or nil
  local newest = self.line.newest
  local at = newest.names[name]
  if at then
    newest.counts[at - 1] = open
    newest.fewest = math.min(newest.fewest, open)
  end
end

function _M:took(name)
  set(self, name, (self.open[name] or 0) + 1)
end

function _M:left(name)
  set(self, name, math.max((self.open[name] or 0) - 1, 0))
end

return _M
