--- Keeps the error log of the workers apart from that of the master.
--
-- nginx does not escape text in its error log: a line end in a request begins another
-- line, which can look like any other. The controller reads the lines of the master, so
-- the workers write to another file.
local ffi = require("ffi")

ffi.cdef("int dup2(int oldfd, int newfd);")

local _M = {}

local STDERR = 2

-- A file descriptor, set in the master at each load; its workers inherit it.
local file

--- Finds the file that the controller opened for the workers, if any.
-- For init_by_lua: workers have another environment.
function _M.find()
  file = tonumber(os.getenv("SLUICE_REQUEST_LOG") or "")
end

--- Makes this worker write to that file. For init_worker_by_lua.
function _M.part()
  if file then
    ffi.C.dup2(file, STDERR)
  end
end

return _M
