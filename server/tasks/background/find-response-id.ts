/** Finds the id of a streamed response in its events. */
import type { StreamAnswer } from '../../pipeline/answer/open-answer.ts'

/**
 * Returns the stream with a relay that watches for the response's id. Calls `onId` once with it;
 * `accepted` resolves with its outcome, or with undefined while no event had an id.
 */
export function watchForId<T>(
  answer: StreamAnswer,
  onId: (id: string) => Promise<T | undefined>,
): { readonly answer: StreamAnswer; readonly accepted: () => Promise<T | undefined> } {
  const { relay } = answer
  let accepting: Promise<T | undefined> | undefined
  const readId = () => {
    const { answerId } = relay.report()
    if (accepting || answerId === undefined) return
    accepting = onId(answerId)
    // `accepted` rejects with the error; until it is called, the rejection must not be unhandled.
    accepting.catch(() => undefined)
  }
  readId()
  const watched: StreamAnswer['relay'] = {
    push(chunk) {
      const out = relay.push(chunk)
      readId()
      return out
    },
    end() {
      const out = relay.end()
      readId()
      return out
    },
    fail: (failure) => relay.fail(failure),
    report: () => relay.report(),
    heldBytes: () => relay.heldBytes?.() ?? 0,
  }
  return { answer: { ...answer, relay: watched }, accepted: async () => accepting }
}
