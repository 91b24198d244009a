--- Keeps what requests have the workers log apart from what nginx says of itself.
--
-- nginx does not escape what it writes to the error log: a line end in a request
-- begins another line, which can look like any other. So the workers write to
-- another file than the master, whose lines the controller goes by.
local ffi = require("ffi")

ffi.cdef("int dup2(int oldfd, int newfd);")

local _M = {}

local STDERR = 2

-- Set in the master while it loads a configuration; its workers inherit it.
local file

--- Finds the file that the controller opened for the workers, if it did.
-- Belongs into init_by_lua: workers have another environment.
function _M.find()
  file = tonumber(os.getenv("SLUICE_REQUEST_LOG") or "")
end

--- Has this worker write there, before it takes its first request. Belongs into
-- init_worker_by_lua.
function _M.part()
  if file then
    ffi.C.dup2(file, STDERR)
  end
end

return _M
