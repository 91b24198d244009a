--- Reads pushes of the controller, and encodes their items for the dictionaries.
-- internal/dynamic/wire.go is the other half of this contract.
--
-- A backend is stored as the JSON array [status when empty, [host, port], ...], or as
-- the object {empty, endpoints, picker, split} if it has a picker or a split. A
-- certificate is stored as its chain and its key in PEM, separated by a zero byte. An OCSP
-- response and the key of session tickets come in base64 and are stored as bytes.
local cjson = require("cjson.safe")

local _M = {}

local MAX_DEPTH = 10
local SEPARATOR = "\0"

-- Our own instance of cjson, made at first use: its settings are not shared.
local strict

local function json()
  if not strict then
    strict = cjson.new()
    strict.decode_invalid_numbers(false)
    strict.decode_max_depth(MAX_DEPTH)
  end
  return strict
end

local function is_table(value)
  return type(value) == "table"
end

local function is_array(value)
  if not is_table(value) then
    return false
  end
  local count = 0
  for _ in pairs(value) do
    count = count + 1
  end
  return count == #value
end

local function is_text(value)
  return type(value) == "string" and #value <= 1024 and not value:find("%c")
end

-- The pattern of a user with our limits.
local function is_pattern(value)
  return type(value) == "string" and #value <= 4096 and not value:find("%c")
end

local function is_name(value)
  return is_text(value) and value ~= ""
end

local function is_id(value)
  return is_name(value) and not value:find("%X")
end

local function is_pem(value)
  return type(value) == "string" and value:find("-----BEGIN ", 1, true) ~= nil
end

local function is_base64(value)
  return type(value) == "string" and value ~= "" and ngx.decode_base64(value) ~= nil
end

local function is_time(value)
  return type(value) == "number" and value > 0
end

local function is_status(value)
  return value == 503 or value == 404
end

local function is_port(value)
  return type(value) == "number" and value % 1 == 0 and value >= 1 and value <= 65535
end

local function is_endpoint(value)
  return is_table(value) and #value == 2
    and type(value[1]) == "string" and value[1]:find("^[%x:.]+$") ~= nil
    and is_port(value[2])
end

-- The first error of check(item, path) for the items of an array.
local function each(list, path, check)
  if not is_array(list) then
    return path .. ": want an array"
  end
  for at, item in ipairs(list) do
    local err = check(item, path .. "[" .. (at - 1) .. "]")
    if err then
      return err
    end
  end
end

-- Wants an object that has no other fields than the known ones.
local function only(item, prefix, known)
  if not is_table(item) then
    return prefix .. "want an object"
  end
  for name in pairs(item) do
    if not known[name] then
      return prefix .. "unknown field " .. tostring(name)
    end
  end
end

-- Wants an object with exactly these fields.
local function object(item, path, fields)
  local err = only(item, path .. ": ", fields)
  if err then
    return err
  end
  for name, valid in pairs(fields) do
    if not valid(item[name]) then
      return path .. "." .. name .. ": missing or not valid"
    end
  end
end

-- The settings of a picker or the attributes of a cookie: nil, or an object of plain
-- values with the needed one. The values of also are checked elsewhere.
local function is_plain(value, needed, also)
  if value == nil then
    return true
  elseif not is_table(value) or not is_name(value[needed]) then
    return false
  end
  for name, setting in pairs(value) do
    if type(name) ~= "string" or not (is_text(setting) or type(setting) == "number" or type(setting) == "boolean" or also and also[name]) then
      return false
    end
  end
  return true
end

local function is_weight(value)
  return type(value) == "number" and value % 1 == 0 and value >= 0 and value <= 2 ^ 31
end

local function is_rule(value)
  return is_table(value) and is_name(value.variable) and is_text(value.value) and type(value.takes) == "boolean"
    and (value.pattern == nil or is_pattern(value.pattern))
end

local function all(list, valid)
  if not is_array(list) then
    return false
  end
  for _, item in ipairs(list) do
    if not valid(item) then
      return false
    end
  end
  return true
end

-- The key of a hash in "by" begins with a text, which may be empty.
local function is_picker(value)
  return is_plain(value, "picker", { by = true }) and (value == nil or value.by == nil or all(value.by, is_text))
end

local function is_share(value)
  return is_table(value) and is_name(value.backend) and is_text(value.name) and is_weight(value.weight)
    and (value.rules == nil or all(value.rules, is_rule))
end

local function is_split(value)
  if value == nil then
    return true
  end
  return is_table(value) and is_name(value.main) and is_weight(value.total) and value.total >= 1
    and is_plain(value.cookie, "name") and (value.tags == nil or all(value.tags, is_text))
    and all(value.shares, is_share)
end

local BACKEND = { key = is_name, endpoints = is_table, empty = is_status, picker = is_picker, split = is_split }

local function check_endpoint(item, path)
  if not is_endpoint(item) then
    return path .. ": want [address, port]"
  end
end

local function check_backend(item, path)
  return object(item, path, BACKEND) or each(item.endpoints, path .. ".endpoints", check_endpoint)
end

local function has(fields)
  return function(item, path)
    return object(item, path, fields)
  end
end

local function check_text(item, path)
  if not is_text(item) then
    return path .. ": want a string"
  end
end

local SET = {
  backends = check_backend,
  certificates = has({ id = is_id, chain = is_pem, key = is_pem }),
  names = has({ host = is_text, id = is_id }),
  staples = has({ id = is_id, response = is_base64, ["until"] = is_time }),
  tickets = has({ id = is_name, key = is_base64 }),
}
local DELETE = { backends = check_text, certificates = check_text, names = check_text, staples = check_text, tickets = check_text }

-- Adds missing lists, and checks the others.
local function check_lists(push, part, checks)
  push[part] = push[part] or {}
  local lists = push[part]
  local err = only(lists, part .. ": ", checks)
  if err then
    return err
  end
  for name, check in pairs(checks) do
    lists[name] = lists[name] or {}
    err = each(lists[name], part .. "." .. name, check)
    if err then
      return err
    end
  end
end

local TOP = { boot = true, set = true, delete = true }

local function check_push(push)
  local err = only(push, "", TOP)
  if err then
    return err
  end
  if not is_name(push.boot) then
    return "boot: missing or not valid"
  end
  return check_lists(push, "set", SET) or check_lists(push, "delete", DELETE)
end

--- Reads a push.
-- @tparam string body
-- @treturn table|nil {boot, set = {backends, certificates, names, staples, tickets}, delete = {the same}}
-- @treturn string|nil the error; it never quotes a value of the push
function _M.decode(body)
  local push = json().decode(body)
  if push == nil then
    return nil, "not valid JSON" -- the error of cjson can quote the body
  end
  local err = check_push(push)
  if err then
    return nil, err
  end
  return push
end

--- @treturn string|nil an answer as JSON
function _M.encode(answer)
  return json().encode(answer)
end

--- @tparam table backend as in a push
-- @treturn string the stored value; hosts are as nginx writes them
function _M.backend(backend)
  local own = backend.picker or backend.split
  local endpoints = own and {} or { backend.empty }
  for _, endpoint in ipairs(backend.endpoints) do
    local host = endpoint[1]
    if host:find(":", 1, true) then
      host = "[" .. host .. "]"
    end
    endpoints[#endpoints + 1] = { host, endpoint[2] }
  end
  if own then
    return json().encode({ empty = backend.empty, endpoints = endpoints, picker = backend.picker, split = backend.split })
  end
  return json().encode(endpoints)
end

-- Replaces the tags of a split, of which the first is the main backend's, by a table of
-- their places. A share without a tag keeps no clients.
local function by_tag(split)
  local places = {}
  for at, tag in ipairs(split.tags or {}) do
    if tag ~= "" then
      places[tag] = places[tag] or at - 1
    end
  end
  split.tags = places
end

--- @tparam string text a value that backend() made
-- @treturn table|nil {empty, endpoints, picker, split}; nil for any other text
function _M.kept(text)
  local value = json().decode(text)
  if not is_table(value) then
    return nil
  end
  if is_status(value[1]) then
    return { empty = table.remove(value, 1), endpoints = value }
  end
  if is_status(value.empty) and is_table(value.endpoints) then
    if value.split then
      by_tag(value.split)
    end
    return value
  end
end

--- @tparam table certificate as in a push
-- @treturn string the stored value
function _M.certificate(certificate)
  return certificate.chain .. SEPARATOR .. certificate.key
end

--- @treturn string|nil chain in PEM
-- @treturn string|nil key in PEM
function _M.pair(value)
  local at = value:find(SEPARATOR, 1, true)
  if not at then
    return nil
  end
  return value:sub(1, at - 1), value:sub(at + 1)
end

return _M
