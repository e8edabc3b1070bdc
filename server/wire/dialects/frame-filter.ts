/**
 * Filters the events of a stream one by one; events that need no change keep their bytes. A chunk
 * that passes whole is returned as the same Buffer.
 */
import { createSseSplitter, LINES_MAX } from './sse.ts'

export interface FrameFilter {
  /** The bytes for the caller. The start of an unfinished event is held back. */
  push(chunk: Buffer): Buffer | undefined
  /** The body ended: the bytes held back are filtered as one event. */
  end(): Buffer | undefined
  /** True while the caller has received part of an event, which further output must close first. */
  isInsideEvent(): boolean
  /** Bytes of memory for what is held back. */
  heldBytes(): number
}

export interface FrameFilterOptions {
  /** Returns the frame itself to let it pass, other bytes in its place, or undefined to drop it. */
  readonly onFrame: (frame: Buffer) => Buffer | undefined
  /** Returns the end of the events from `start` on that pass; see SseSplitterOptions. */
  readonly skip?: (chunk: Buffer, start: number) => number
  /** An event over the limit passes as it is, in pieces. */
  readonly onOverflow: (piece: Buffer, isLast: boolean) => void
  /** The largest event that is filtered; the splitter's own limit when absent. */
  readonly limitBytes?: number
}

const LF = 10
const CR = 13

export function createFrameFilter(options: FrameFilterOptions): FrameFilter {
  const { onFrame, onOverflow, skip, limitBytes } = options
  let out: Buffer[] = []
  let isChanged = false
  let isInsideOverflow = false
  const splitter = createSseSplitter({
    limitBytes,
    skip:
      skip &&
      ((chunk, start) => {
        const end = skip(chunk, start)
        if (end === start) return start
        isInsideOverflow = false
        out.push(start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end))
        return end
      }),
    onFrame(frame) {
      isInsideOverflow = false
      const passed = onFrame(frame)
      if (passed !== frame) isChanged = true
      if (passed) out.push(passed)
    },
    onOverflow(piece, isLast) {
      isInsideOverflow = true
      onOverflow(piece, isLast)
      out.push(piece)
    },
  })

  function takeOut(): Buffer | undefined {
    const [first, second] = out
    const all = second ? Buffer.concat(out) : first
    out = []
    return all
  }

  return {
    push(chunk) {
      const carried = splitter.pendingBytes()
      isChanged = false
      splitter.push(chunk)
      const pending = splitter.pendingBytes()
      const isWhole = !isChanged && carried === 0 && pending < chunk.length
      if (!isWhole) return takeOut()
      out = []
      return pending === 0 ? chunk : chunk.subarray(0, chunk.length - pending)
    },
    end() {
      splitter.end()
      const last = out.at(-1)
      // The last event may lack its blank line; an extra blank line has no meaning.
      if (isInsideOverflow || (last && !isLineEnd(last))) out.push(Buffer.from('\n\n'))
      isInsideOverflow = false
      return takeOut()
    },
    isInsideEvent: () => isInsideOverflow,
    heldBytes: splitter.heldBytes,
  }
}

/**
 * Returns true for the LF of a CRLF that was split between chunks, which arrives as its own frame.
 */
export function isLineEnd(frame: Buffer): boolean {
  return frame.length === 1 && (frame[0] === LF || frame[0] === CR)
}

const EVENT_LINE = /^(?::|data\b|event\b|id\b|retry\b|\s*$)/

/**
 * Returns true for text that is not an event, such as an error page of a proxy, which must not
 * pass.
 */
export function isForeign(frame: Buffer): boolean {
  if (isLineEnd(frame)) return false
  return !frame
    .toString('utf8')
    .split(/\r\n|\r|\n/, LINES_MAX)
    .every((line) => EVENT_LINE.test(line))
}
