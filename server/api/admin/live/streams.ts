/** The open event streams: their viewers, limits and lifetimes. */

import type { Context } from '../../../base/http/context.ts'
import { commonHeaders } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'

const STREAMS_A_SESSION = 6
const STREAMS_MAX = 2_000
/** A browser that has this much unread is disconnected. */
const UNREAD_BYTES_MAX = 64 * 1024

export interface Viewer {
  readonly context: Context
  readonly accountId: string
  readonly sessionId: string
  /** Resolves to true while the session is valid and may see the account. */
  readonly mayStay: () => Promise<boolean>
}

export interface Streams {
  /**
   * Begins a response of events. Returns false for a viewer who has left meanwhile. Throws 429
   * beyond the limits.
   */
  open(viewer: Viewer): boolean
  send(accountId: string, text: string): void
  /**
   * Sends a heartbeat on every stream, and ends those whose session may no longer see the
   * account.
   */
  heartbeat(): void
  accountIds(): readonly string[]
  end(): void
}

/** `onEmpty` is called when the last viewer has disconnected. */
export function createStreams(onEmpty: () => void): Streams {
  const viewers = new Set<Viewer>()

  function refuseExcess({ sessionId }: Viewer): void {
    const own = [...viewers].filter((one) => one.sessionId === sessionId).length
    if (own < STREAMS_A_SESSION && viewers.size < STREAMS_MAX) return
    throw new GatewayError('rate_limited', {
      message: 'too many event streams are open',
      retryAfterSeconds: 30,
    })
  }

  return {
    open(viewer) {
      refuseExcess(viewer)
      const { response } = viewer.context
      if (response.destroyed) return false
      response.writeHead(200, {
        ...commonHeaders(viewer.context),
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      response.write('retry: 3000\n\n')
      viewers.add(viewer)
      response.once('close', () => {
        viewers.delete(viewer)
        if (viewers.size === 0) onEmpty()
      })
      return true
    },
    send(accountId, text) {
      for (const viewer of viewers) if (viewer.accountId === accountId) write(viewer, text)
    },
    heartbeat() {
      for (const viewer of viewers) void heartbeatOne(viewer)
    },
    accountIds: () => [...new Set([...viewers].map(({ accountId }) => accountId))],
    end() {
      for (const { context } of viewers) context.response.end()
    },
  }
}

function write({ context: { response } }: Viewer, text: string): void {
  if (response.writableLength > UNREAD_BYTES_MAX) response.destroy()
  else response.write(text)
}

/**
 * If the database cannot tell whether the session is valid, the stream ends: it will be reopened.
 */
async function heartbeatOne(viewer: Viewer): Promise<void> {
  if (await viewer.mayStay().catch(() => false)) write(viewer, ': still here\n\n')
  else viewer.context.response.end()
}
