-- Sends the requests of a file, one after another and again from the first. A line is method, path,
-- key and perhaps a body.
local requests, last = {}, 0

local function set(line)
    local method, path, key, body = line:match("^(%S+) (%S+) (%S+) ?(.*)$")
    wrk.method, wrk.path = method, path
    wrk.body = body ~= "" and body or nil
    wrk.headers["Authorization"] = "Bearer " .. key
    wrk.headers["Content-Type"] = wrk.body and "application/json"
end

function init(args)
    local prefix = wrk.path
    for line in io.lines(args[1]) do
        set(line)
        wrk.path = prefix .. wrk.path
        requests[#requests + 1] = wrk.format()
    end
    -- wrk repeats a single request without a call of Lua.
    if #requests > 1 then
        function request()
            last = last % #requests + 1
            return requests[last]
        end
    end
end
