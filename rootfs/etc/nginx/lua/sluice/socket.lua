--- Datagrams to sockets of the controller, without waiting for it.
local ffi = require("ffi")

ffi.cdef([[
typedef struct { unsigned short family; char path[108]; } sluice_sockaddr;
typedef struct { int fd; short events; short revents; } sluice_pollfd;
int socket(int domain, int type, int protocol);
int connect(int fd, const sluice_sockaddr *address, unsigned int length);
ssize_t send(int fd, const char *data, size_t length, int flags);
int poll(sluice_pollfd *fds, unsigned long count, int timeout);
int close(int fd);
]])

local _M = {}

-- Source: the constants of Linux, the same on amd64 and arm64
local AF_UNIX, DATAGRAM, MSG_NOSIGNAL, EAGAIN, POLLOUT = 1, 0x80802, 0x4000, 11, 4

--- A socket of the controller, opened anew if it fails.
-- @tparam string path
-- @treturn function send
-- @treturn function waits until it may take more, at most 50 ms; returns whether there is a
-- controller
function _M.open(path)
  local fd
  local function connect()
    local address = ffi.new("sluice_sockaddr", AF_UNIX)
    ffi.copy(address.path, path, math.min(#path, 107))
    local opened = ffi.C.socket(AF_UNIX, DATAGRAM, 0)
    if opened >= 0 and ffi.C.connect(opened, address, ffi.sizeof(address)) ~= 0 then
      ffi.C.close(opened)
      opened = -1
    end
    fd = opened >= 0 and opened or nil
  end
  local function send(data)
    if not fd then
      connect()
    end
    if not fd then
      return false
    end
    if ffi.C.send(fd, data, #data, MSG_NOSIGNAL) == #data then
      return true
    end
    if ffi.errno() ~= EAGAIN then -- such as ECONNREFUSED: another controller has another socket
      ffi.C.close(fd)
      fd = nil
    end
    return false
  end
  local function wait()
    if not fd then
      return false
    end
    local what = ffi.new("sluice_pollfd[1]")
    what[0].fd, what[0].events = fd, POLLOUT
    ffi.C.poll(what, 1, 50)
    return true
  end
  return send, wait
end

return _M
