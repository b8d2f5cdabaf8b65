-- Uses of Idempotency-Key, shared by all nodes: which request has one, and its answer afterwards.
--
-- KEYS[1]: one use (hash: f fingerprint, r request, s 'running' or 'done', a answer).
-- KEYS[2]: when each kept answer goes (sorted set); KEYS[3]: its size (hash).
-- ARGV: what to do, fingerprint, request, then as each part says.

local RUNNING = 15000
local KEPT = 3600000

local function claim()
  local f, r, s = unpack(redis.call('HMGET', KEYS[1], 'f', 'r', 's'))
  if not f then
    redis.call('HSET', KEYS[1], 'f', ARGV[2], 'r', ARGV[3], 's', 'running')
    redis.call('PEXPIRE', KEYS[1], RUNNING)
    return {'ours'}
  end
  if f ~= ARGV[2] then return {'reused'} end
  if s == 'running' then return {r == ARGV[3] and 'ours' or 'running'} end
  return {'done', r, redis.call('HGET', KEYS[1], 'a')}
end

-- It still runs here; also where the server had forgotten.
local function renew()
  local r, s = unpack(redis.call('HMGET', KEYS[1], 'r', 's'))
  if r and (r ~= ARGV[3] or s ~= 'running') then return end
  redis.call('HSET', KEYS[1], 'f', ARGV[2], 'r', ARGV[3], 's', 'running')
  redis.call('PEXPIRE', KEYS[1], RUNNING)
end

-- ARGV[4]: a channel, ARGV[5]: the name that is told there.
local function free()
  local r, s = unpack(redis.call('HMGET', KEYS[1], 'r', 's'))
  if r == ARGV[3] and s == 'running' then redis.call('DEL', KEYS[1]) end
  redis.call('PUBLISH', ARGV[4], ARGV[5])
end

local function forget(key)
  local size = tonumber(redis.call('HGET', KEYS[3], key) or 0)
  redis.call('ZREM', KEYS[2], key)
  redis.call('HDEL', KEYS[3], key)
  redis.call('HINCRBY', KEYS[3], 'sum', -size)
end

-- ARGV[4], ARGV[5] as above; ARGV[6]: most bytes of all answers; ARGV[7]: the answer, empty for one
-- that is too large to be kept.
local function finish()
  local r = redis.call('HGET', KEYS[1], 'r')
  if r and r ~= ARGV[3] then return end
  local t = redis.call('TIME')
  local now = t[1] * 1000000 + t[2] -- two within a millisecond have an order too
  for _, key in ipairs(redis.call('ZRANGE', KEYS[2], '-inf', now, 'BYSCORE')) do forget(key) end
  redis.call('HSET', KEYS[1], 'f', ARGV[2], 'r', ARGV[3], 's', 'done', 'a', ARGV[7])
  redis.call('PEXPIRE', KEYS[1], KEPT)
  forget(KEYS[1])
  local sum = redis.call('HINCRBY', KEYS[3], 'sum', #ARGV[7])
  redis.call('HSET', KEYS[3], KEYS[1], #ARGV[7])
  redis.call('ZADD', KEYS[2], now + KEPT * 1000, KEYS[1])
  while sum > tonumber(ARGV[6]) do
    local oldest = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    redis.call('DEL', oldest)
    forget(oldest)
    sum = tonumber(redis.call('HGET', KEYS[3], 'sum'))
  end
  redis.call('PUBLISH', ARGV[4], ARGV[5])
end

local parts = {claim = claim, renew = renew, free = free, finish = finish}
return parts[ARGV[1]]()
