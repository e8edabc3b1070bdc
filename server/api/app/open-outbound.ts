/** Opens outbound connections: the address guard, and the client for upstreams. */

import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { Allowance } from '../../base/outbound/address.ts'
import { createGuard } from '../../base/outbound/guard.ts'
import { skipInterim } from '../../work/pipeline/send/skip-interim.ts'
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
 * Creates the client for upstreams. It speaks HTTP/1.1 alone: over HTTP/2 it reports a stream that
 * the vendor cancels midway as complete, and a caller that reads slowly delays all others.
 */
export function createDispatcher({ upstream }: Pick<Config, 'upstream'>): Dispatcher {
  const connect = buildConnector({ allowH2: false, timeout: upstream.connectTimeoutMs })
  return new Agent({
    allowH2: false,
    connect: skipInterim(connect),
    connections: upstream.connectionsMax,
    keepAliveTimeout: 30_000,
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
