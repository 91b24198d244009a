--- Returns unused memory to the system.
local ffi = require("ffi")

ffi.cdef("void _exit(int status);")

local _M = {}

--- Returns the pages that former configurations left in the heap of this process.
-- A worker needs it too: when the master writes the next configuration to pages that
-- they share, the worker would keep a copy of the old content.
-- Source: https://man7.org/linux/man-pages/man3/malloc_trim.3.html
function _M.trim()
  pcall(function() -- some C libraries have no malloc_trim
    ffi.cdef("int malloc_trim(size_t pad);")
    ffi.C.malloc_trim(0)
  end)
end

--- Ends this worker without freeing its configuration. It has served its last request
-- and written its logs. To free a block is to write to a page that other workers share,
-- so the worker would need a third more memory, and time.
-- For exit_worker_by_lua.
function _M.leave()
  ffi.C._exit(0)
end

return _M
