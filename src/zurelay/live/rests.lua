-- What rests, shared by all nodes.
--
-- KEYS[1]: names, each with the time in ms at which its rest ends (sorted set).
-- ARGV: 'rest', a channel, a name, for how many ms: told to all who listen there.
--       'known': replies names and the ms they still rest, one after the other.

local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if ARGV[1] == 'rest' then
  redis.call('ZADD', KEYS[1], 'GT', now + ARGV[4], ARGV[3])
  redis.call('PEXPIRE', KEYS[1], 3600000)
  redis.call('PUBLISH', ARGV[2], ARGV[4] .. ' ' .. ARGV[3])
  return 1
end
local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local out = {}
for i = 1, #all, 2 do
  out[i] = all[i]
  out[i + 1] = string.format('%.0f', all[i + 1] - now)
end
return out
