/**
 * Reads one session of AST 2.0 (docs/protocols/volcengine-interpretation.md#session): the caller's
 * output, the billed usage and the ending. It has no socket; the adapter hands it messages.
 */
import type { RelayReport } from '../../dialects/relay.ts'
import { UpstreamFailure } from '../failure.ts'
import { createUsageCounter } from './count-usage.ts'
import { type AstResponse, decodeResponse } from './decode-response.ts'
import { EVENTS } from './events.ts'
import { classifyFailure } from './failures.ts'
import { createTranscript, type TranscriptLimit } from './transcript.ts'

export type AstStep =
  /** No output for the caller. */
  | { readonly kind: 'none' }
  | { readonly kind: 'started' }
  | { readonly kind: 'audio'; readonly bytes: Uint8Array }
  | { readonly kind: 'finished' }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }

const NONE: AstStep = { kind: 'none' }

export interface AstSession {
  /** Takes one message. Throws when it is not a message of this protocol. */
  take(message: Uint8Array): AstStep
  readonly texts: TranscriptLimit['texts']
  /** Returns true once the session has ended and the usage of all audio is stated. */
  isBilled(): boolean
  report(): RelayReport
}

export interface SessionOptions {
  /** Texts are kept for `s2t` alone, where they are the answer. */
  readonly mode: 's2t' | 's2s'
  /** Returns the milliseconds of audio sent so far. */
  readonly sentMs: () => number
}

const TOO_LONG = { message: 'the output exceeds the limit' }

export function createSession({ mode, sentMs }: SessionOptions): AstSession {
  const usage = createUsageCounter()
  const transcript = createTranscript()
  const isSpoken = mode === 's2s'
  let audioBytes = 0
  let isBilled = false
  let isFinished = false
  let error: RelayReport['error']

  function fail(failure: UpstreamFailure): AstStep {
    const { code, message = failure.message } = failure.details
    error = { type: 'server_error', message, code }
    return { kind: 'failed', failure }
  }

  function fit(isKept: boolean): AstStep {
    return isKept ? NONE : fail(new UpstreamFailure('unknown', TOO_LONG))
  }

  function speak({ data }: AstResponse): AstStep {
    if (!isSpoken || !data || data.length === 0) return NONE
    audioBytes += data.length
    return { kind: 'audio', bytes: data }
  }

  function bill({ billing }: AstResponse): AstStep {
    isBilled ||= billing !== undefined
    if (billing) usage.add(billing)
    return NONE
  }

  function handle(response: AstResponse): AstStep {
    // Nothing else changes a session that has ended.
    if (isFinished && response.event !== EVENTS.usage) return NONE
    switch (response.event) {
      case EVENTS.sessionStarted:
        return { kind: 'started' }
      case EVENTS.speech:
        return speak(response)
      case EVENTS.translatedSentence:
        return fit(isSpoken || transcript.addTranslation(response.text))
      case EVENTS.sourceSentence:
        return fit(isSpoken || transcript.addSource(response.text))
      case EVENTS.usage:
        return bill(response)
      case EVENTS.sessionFinished:
        isFinished = true
        return { kind: 'finished' }
      case EVENTS.sessionFailed:
        return fail(classifyFailure(response.statusCode, response.message, isBilled))
      case EVENTS.sessionCanceled:
        return fail(new UpstreamFailure('unknown', { message: 'the session was cancelled' }))
      default:
        return NONE
    }
  }

  return {
    take: (message) => handle(decodeResponse(message)),
    texts: transcript.texts,
    isBilled: () => isFinished && usage.isWhole(sentMs()),
    report() {
      const outputBytes = isSpoken ? audioBytes : transcript.bytes()
      return { usage: usage.read(sentMs()), error, outputBytes, finished: isFinished }
    },
  }
}
