--- Gives memory back to the system that nginx no longer uses.
local ffi = require("ffi")

local _M = {}

--- Lets go of what the configuration before left in this worker's heap. The
-- master fills those pages with the next one; a worker that held on to them
-- would keep a copy of their old content for as long as it lives.
-- Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html
function _M.trim()
  pcall(function() -- another C library has no malloc_trim: nothing is lost
    ffi.cdef("int malloc_trim(size_t pad);")
    ffi.C.malloc_trim(0)
  end)
end

return _M
