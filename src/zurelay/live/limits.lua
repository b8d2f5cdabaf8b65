-- Rate limits shared by all nodes. The rule is the one of meter/limits.py, step for step.
--
-- KEYS[1]: when each node's lease ends (sorted set). Then for each bound its window (packed
-- [at, requests, tokens, at, ...], oldest first) and its places (hash: node -> requests under way).
-- ARGV: what to do, the time in ms or '' for this server's, the node, then as each part says.

local WINDOW = 60000
local LEASE = 15000
local IDLE = 86400000

local function clock()
  if ARGV[2] ~= '' then return tonumber(ARGV[2]) end
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

local now = clock()
local node = ARGV[3]

local function read(key)
  local window = {requests = 0, tokens = 0}
  local packed = redis.call('GET', key)
  if packed then
    local all = cmsgpack.unpack(packed)
    local n = 0
    for i = 1, #all, 3 do
      if all[i] > now - WINDOW then
        window[n + 1] = math.min(all[i], now) -- the clock may have been set back
        window[n + 2] = all[i + 1]
        window[n + 3] = all[i + 2]
        n = n + 3
        window.requests = window.requests + all[i + 1]
        window.tokens = window.tokens + all[i + 2]
      end
    end
  end
  return window
end

local function write(key, window)
  local n = #window
  if n == 0 then
    redis.call('DEL', key)
    return
  end
  local all = {}
  for i = 1, n do all[i] = window[i] end
  redis.call('SET', key, cmsgpack.pack(all), 'PX', WINDOW + 1000)
end

local function wait(window, rpm, tpm, ask)
  if ask < 0 then return -1 end
  local requests = rpm < 0 and 0 or window.requests + 1 - rpm
  local tokens = tpm < 0 and 0 or window.tokens + ask - tpm
  if requests <= 0 and tokens <= 0 then return 0 end
  for i = 1, #window, 3 do
    requests = requests - window[i + 1]
    tokens = tokens - window[i + 2]
    if requests <= 0 and tokens <= 0 then return window[i] + WINDOW - now end
  end
  return -1
end

local function add(window, requests, tokens)
  window.requests = window.requests + requests
  window.tokens = window.tokens + tokens
  local n = #window
  if n > 0 and math.floor(window[n - 2] / 1000) == math.floor(now / 1000) then
    window[n - 2] = now
    window[n - 1] = window[n - 1] + requests
    window[n] = window[n] + tokens
  else
    window[n + 1], window[n + 2], window[n + 3] = now, requests, tokens
  end
end

local function give_back(window, at, requests, tokens)
  for i = 1, #window, 3 do
    if window[i] >= at then
      if math.floor(window[i] / 1000) == math.floor(at / 1000) then
        window[i + 1] = window[i + 1] - math.min(requests, window[i + 1])
        window[i + 2] = window[i + 2] - math.min(tokens, window[i + 2])
      end
      return
    end
  end
end

local function reset(window, place)
  for i = #window - 2, 1, -3 do
    if window[i + place] > 0 then return window[i] + WINDOW - now end
  end
  return 0
end

-- Requests under way at nodes that are alive; what dead ones left is cleared away.
local function held(key)
  local sum = 0
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    local lease = redis.call('ZSCORE', KEYS[1], all[i])
    if lease and tonumber(lease) > now then
      sum = sum + tonumber(all[i + 1])
    else
      redis.call('HDEL', key, all[i])
    end
  end
  return sum
end

local function hold(key, count)
  local left = redis.call('HINCRBY', key, node, count)
  if left <= 0 then
    redis.call('HDEL', key, node)
  else
    redis.call('PEXPIRE', key, IDLE)
  end
end

-- For each bound: rpm, tpm, concurrency (-1: none), tokens asked for (-1: more than ever fits).
-- Replies '1' or '0', the time, and for each bound how it stands.
local function admit()
  local bounds = {}
  local fits = true
  for i = 1, (#ARGV - 3) / 4 do
    local at = 4 * i
    local bound = {
      rate = KEYS[2 * i], places = KEYS[2 * i + 1],
      rpm = tonumber(ARGV[at]), tpm = tonumber(ARGV[at + 1]),
      most = tonumber(ARGV[at + 2]), ask = tonumber(ARGV[at + 3]),
      held = 0, wait = 0,
    }
    if bound.rpm >= 0 or bound.tpm >= 0 then
      bound.window = read(bound.rate)
      bound.wait = wait(bound.window, bound.rpm, bound.tpm, bound.ask)
    end
    if bound.most >= 0 then bound.held = held(bound.places) end
    if bound.wait ~= 0 or (bound.most >= 0 and bound.held >= bound.most) then fits = false end
    bounds[i] = bound
  end
  local out = {fits and 1 or 0, now}
  for _, bound in ipairs(bounds) do
    if fits and bound.window then
      add(bound.window, 1, bound.ask)
      write(bound.rate, bound.window)
    end
    if fits and bound.most >= 0 then
      hold(bound.places, 1)
      bound.held = bound.held + 1
    end
    local window = bound.window or {requests = 0, tokens = 0}
    for _, number in ipairs({
      window.requests, window.tokens, bound.held, reset(window, 1), reset(window, 2), bound.wait
    }) do out[#out + 1] = number end
  end
  for i = 1, #out do out[i] = string.format('%.0f', out[i]) end
  return table.concat(out, ' ')
end

-- When it was counted, then for each bound: 1 if it never was a request, tokens set aside, tokens
-- used, 1 if it held a place.
local function over()
  local at = tonumber(ARGV[4])
  for i = 1, (#ARGV - 4) / 4 do
    local place = 4 * i + 1
    local kept, used = tonumber(ARGV[place + 1]), tonumber(ARGV[place + 2])
    local undone = tonumber(ARGV[place])
    if ARGV[place + 3] == '1' then hold(KEYS[2 * i + 1], -1) end
    if used ~= kept or undone > 0 then
      local window = read(KEYS[2 * i])
      if used > kept then
        add(window, 0, used - kept)
      else
        give_back(window, at, undone, kept - used)
      end
      write(KEYS[2 * i], window)
    end
  end
end

-- A number of places for each bound, whatever the limits are. Only places: no windows in KEYS.
local function take()
  for i = 2, #KEYS do hold(KEYS[i], tonumber(ARGV[i + 2])) end
end

-- Renew the lease ('first': take it, in place of the one named last). Replies how many nodes live,
-- or -1 where the lease had lapsed.
local function beat()
  if ARGV[4] == 'first' then
    redis.call('ZREM', KEYS[1], ARGV[5])
  else
    local lease = redis.call('ZSCORE', KEYS[1], node)
    if not lease or tonumber(lease) <= now then return -1 end
  end
  redis.call('ZADD', KEYS[1], now + LEASE, node)
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
  return redis.call('ZCARD', KEYS[1])
end

local parts = {admit = admit, over = over, take = take, beat = beat}
return parts[ARGV[1]]()
