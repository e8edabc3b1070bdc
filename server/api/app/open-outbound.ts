/** Opens outbound connections: the address guard, and the client for upstreams. */

import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Allowance } from '../../base/outbound/address.ts'
import { createGuard } from '../../base/outbound/guard.ts'
import { skipInterim } from '../../base/outbound/skip-interim.ts'
import type { Config } from '../config/config.ts'

export type OpenedOutbound = ReturnType<typeof openGuard>

/** Reads the policy at every URL: demo mode, whose callers may name this machine, starts late. */
export function openGuard(config: Config) {
  const ports = new Set(config.targetPorts)
  let allowance: Allowance = config.allowPrivateTargets ? 'private' : 'public'
  return {
    guard: createGuard({ policy: () => ({ allowance, ports }) }),
    allowLoopback() {
      if (allowance === 'public') allowance = 'loopback'
    },
  }
}

/**
 * Time that an idle connection is kept, unless the vendor states another. Many servers close theirs
 * after five seconds and do not say so. A request that crosses such a close is lost; since it looks
 * like one that was read, it must not be repeated.
 */
const KEEP_ALIVE_MS = 4_000

/**
 * Creates the client for upstreams. It speaks HTTP/1.1 alone: over HTTP/2 it reports a stream that
 * the vendor cancels midway as complete, and a caller that reads slowly delays all others.
 */
export function createDispatcher({ upstream }: Pick<Config, 'upstream'>): Dispatcher {
  const connect = buildConnector({ allowH2: false, timeout: upstream.connectTimeoutMs })
  return new Agent({
    allowH2: false,
    connect: skipInterim(connect),
    connections: upstream.connectionsMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: 60_000,
    pipelining: 1,
  })
}

/** Counts the connections of all origins. */
export function countConnections(dispatcher: Dispatcher) {
  const { stats } = dispatcher as Agent
  const all = Object.values(stats)
  const busy = all.reduce((sum, { running }) => sum + running, 0)
  const open = all.reduce((sum, one) => sum + ('connected' in one ? Number(one.connected) : 0), 0)
  return { busy, idle: Math.max(0, open - busy) }
}
