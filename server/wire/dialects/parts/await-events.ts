/**
 * Streams in which a vendor may send something else under a status of success, such as the page of
 * a proxy. Nothing of it reaches the caller: it is refused like an answer without any event.
 */
import { createFrameFilter, isForeign } from '../frame-filter.ts'
import { judgeEvent } from '../parse-event-data.ts'
import type { Relay, RelayFailure } from '../relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { readSseFrame } from '../sse.ts'

/**
 * Wraps the tap of a stream: text that is no event is dropped, and so is whatever comes before the
 * first event with an object. A stream that ends without its last event ends with an error. The
 * vendor may bill one of which `[DONE]` is all that came: a recording may be silent.
 */
export function awaitEvents(tap: Relay, printFailure: (failure: RelayFailure) => Buffer): Relay {
  let hasBegun = false
  let mayBeBilled = false
  let error: ReportedError | undefined
  const filter = createFrameFilter({
    onFrame(frame) {
      const content = judgeEvent(frame)
      hasBegun ||= content === 'object'
      if (content === 'none') return isForeign(frame) ? undefined : frame
      mayBeBilled ||= content === 'noise' && readSseFrame(frame)?.data.trim() === '[DONE]'
      return hasBegun ? frame : undefined
    },
    onOverflow() {
      hasBegun = true
    },
  })
  const read = (passed: Buffer | undefined) => passed && tap.push(passed)
  return {
    push: (chunk) => read(filter.push(chunk)),
    end() {
      const rest = read(filter.end())
      const last = tap.end()
      const parts = [rest, last].filter((part) => part !== undefined)
      const report = tap.report()
      if (!report.finished && !report.error) {
        error = UPSTREAM_ERROR
        parts.push(printFailure(error))
      }
      return parts.length > 0 ? Buffer.concat(parts) : undefined
    },
    fail(failure) {
      const isInside = filter.isInsideEvent()
      const failed = tap.fail(failure)
      return failed && isInside ? Buffer.concat([Buffer.from('\n\n'), failed]) : failed
    },
    report: () => (error ? { ...tap.report(), mayBeBilled, error } : tap.report()),
    heldBytes: () => filter.heldBytes() + (tap.heldBytes?.() ?? 0),
  }
}
