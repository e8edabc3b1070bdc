/** The id of a streamed response, as soon as any of its events tells it. */
import type { StreamAnswer } from '../../pipeline/answer/open-answer.ts'

/**
 * The same stream, watched for the response's id. `onName` is called once, with the id; `named`
 * resolves with what it came to, or with undefined as long as no event has told an id.
 */
export function nameEarly<T>(
  answer: StreamAnswer,
  onName: (id: string) => Promise<T | undefined>,
): { readonly answer: StreamAnswer; readonly named: () => Promise<T | undefined> } {
  const { relay } = answer
  let naming: Promise<T | undefined> | undefined
  const readId = () => {
    const { answerId } = relay.report()
    if (naming || answerId === undefined) return
    naming = onName(answerId)
    // Whoever asks for the outcome gets the error; until then it is nobody's.
    naming.catch(() => undefined)
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
  }
  return { answer: { ...answer, relay: watched }, named: async () => naming }
}
