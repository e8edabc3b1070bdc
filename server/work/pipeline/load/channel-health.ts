/**
 * Prefers healthy channels. A channel that failed several times in a row cools down; then a single
 * call probes it. A cooldown only changes the order: a model's last route is always tried, since an
 * attempt can succeed and a refusal cannot.
 */
/** Frees a slot of a channel. */
export type Leave = () => void

export interface ChannelHealth {
  /** Takes one of `callsMax` slots of the channel in this process; undefined if all are taken. */
  enter(channelId: string, callsMax: number): Leave | undefined
  /** Returns true if the channel may be chosen now; claims the probe if it is due. */
  isReady(channelId: string): boolean
  succeeded(channelId: string): void
  /** `cooldownMs` starts a cooldown at once (a vendor's Retry-After, bad credentials). */
  failed(channelId: string, cooldownMs?: number): void
  /** Remembers why a channel failed, even after it has succeeded again. */
  noteError(channelId: string, error: Omit<ChannelError, 'at'>): void
  /** Remembers that a call or task at a channel was answered. */
  noteSuccess(channelId: string): void
  /** Returns the last success that this process has seen, and since when the channel fails. */
  lastUse(channelId: string): SeenUse
  /** Returns the last failure of a channel that this process has seen. */
  lastError(channelId: string): ChannelError | undefined
  /** Returns the channels that are cooling down, with the remaining milliseconds. */
  coolingDown(): readonly { readonly channel: string; readonly forMs: number }[]
}

export interface ChannelError {
  readonly kind: string
  /** The vendor's HTTP status, if there was an answer. */
  readonly status?: number | undefined
  readonly message?: string | undefined
  readonly at: Date
}

export interface SeenUse {
  readonly succeededAt?: Date | undefined
  /** The first failure since the last success. */
  readonly failingSince?: Date | undefined
}

const FAILURES_TO_COOLDOWN = 3
const COOLDOWN_MS_MIN = 5_000
const COOLDOWN_MS_MAX = 120_000
/** A probe without a result blocks further probes for at most this long. */
const PROBE_MS = 30_000

interface State {
  failures: number
  cooldowns: number
  cooldownUntilMs: number
  probeUntilMs: number
}

export function createChannelHealth(nowMs: () => number): ChannelHealth {
  const states = new Map<string, State>()
  const errors = new Map<string, ChannelError>()
  const uses = new Map<string, SeenUse>()
  const running = new Map<string, number>()

  function stateOf(channelId: string): State {
    let state = states.get(channelId)
    if (!state) {
      state = { failures: 0, cooldowns: 0, cooldownUntilMs: 0, probeUntilMs: 0 }
      states.set(channelId, state)
    }
    return state
  }

  return {
    enter(channelId, callsMax) {
      const count = running.get(channelId) ?? 0
      if (count >= callsMax) return undefined
      running.set(channelId, count + 1)
      let hasLeft = false
      return () => {
        if (hasLeft) return
        hasLeft = true
        const next = (running.get(channelId) ?? 1) - 1
        if (next > 0) running.set(channelId, next)
        else running.delete(channelId)
      }
    },
    isReady(channelId) {
      const state = states.get(channelId)
      if (!state || state.cooldownUntilMs === 0) return true
      const now = nowMs()
      if (now < state.cooldownUntilMs || now < state.probeUntilMs) return false
      state.probeUntilMs = now + PROBE_MS
      return true
    },
    succeeded(channelId) {
      states.delete(channelId)
    },
    failed(channelId, cooldownMs) {
      const state = stateOf(channelId)
      state.failures += 1
      state.probeUntilMs = 0
      const probed = state.cooldownUntilMs > 0
      if (cooldownMs === undefined && !probed && state.failures < FAILURES_TO_COOLDOWN) return
      const backoffMs = Math.min(COOLDOWN_MS_MIN * 2 ** state.cooldowns, COOLDOWN_MS_MAX)
      state.cooldowns += 1
      state.cooldownUntilMs = nowMs() + Math.min(cooldownMs ?? backoffMs, COOLDOWN_MS_MAX)
    },
    noteError(channelId, error) {
      const at = new Date()
      errors.set(channelId, { ...error, at })
      const seen = uses.get(channelId)
      uses.set(channelId, { ...seen, failingSince: seen?.failingSince ?? at })
    },
    noteSuccess: (channelId) => void uses.set(channelId, { succeededAt: new Date() }),
    lastUse: (channelId) => uses.get(channelId) ?? {},
    lastError: (channelId) => errors.get(channelId),
    coolingDown() {
      const now = nowMs()
      return [...states]
        .filter(([, state]) => state.cooldownUntilMs > now)
        .map(([channel, state]) => ({ channel, forMs: state.cooldownUntilMs - now }))
    },
  }
}
