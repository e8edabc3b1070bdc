/** The open streams of events: who listens, how many may, and until when. */

import type { Context } from '../../http/context.ts'
import { commonHeaders } from '../../http/reply.ts'
import { GatewayError } from '../../lib/errors.ts'

const STREAMS_A_SESSION = 6
const STREAMS_MAX = 2_000
/** A browser that does not read is left behind. */
const UNREAD_BYTES_MAX = 64 * 1024

export interface Viewer {
  readonly context: Context
  readonly accountId: string
  readonly sessionId: string
  /** Whether the session still lives and may still see the account. */
  readonly mayStay: () => Promise<boolean>
}

export interface Streams {
  /** Begins to answer with events. Throws 429 beyond the limits. */
  open(viewer: Viewer): void
  send(accountId: string, text: string): void
  /** Shows every stream that it lives, and ends those that may not go on. */
  beat(): void
  accountIds(): readonly string[]
  end(): void
}

/** `onEmpty` is called when the last viewer has left. */
export function createStreams(onEmpty: () => void): Streams {
  const viewers = new Set<Viewer>()

  function refuseCrowds({ sessionId }: Viewer): void {
    const own = [...viewers].filter((one) => one.sessionId === sessionId).length
    if (own < STREAMS_A_SESSION && viewers.size < STREAMS_MAX) return
    throw new GatewayError('rate_limited', {
      message: 'too many streams of events are open',
      retryAfterSeconds: 30,
    })
  }

  return {
    open(viewer) {
      refuseCrowds(viewer)
      const { response } = viewer.context
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
    },
    send(accountId, text) {
      for (const viewer of viewers) if (viewer.accountId === accountId) write(viewer, text)
    },
    beat() {
      for (const viewer of viewers) void beatOne(viewer)
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

/** A database that cannot say whether the session lives ends the stream: it will be reopened. */
async function beatOne(viewer: Viewer): Promise<void> {
  if (await viewer.mayStay().catch(() => false)) write(viewer, ': still here\n\n')
  else viewer.context.response.end()
}
