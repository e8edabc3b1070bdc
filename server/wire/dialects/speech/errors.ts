/**
 * The error codes of Doubao speech V3 as data, with their meaning for the caller and for other
 * channels (docs/protocols/volcengine-speech.md#synthesis-codes). They arrive under status 200.
 */

/** Same words as the upstream contract's failure kinds. */
export type SpeechFailureKind = 'rejected' | 'busy' | 'channel_fault' | 'failed'

/** The stream ended normally. */
export const SPEECH_FINISHED = 20000000
/** The gateway's own code for an upstream that broke off. */
export const SPEECH_SERVER_ERROR = 55000000
export const SPEECH_BUSY = 55000031

const KINDS: ReadonlyMap<number, SpeechFailureKind> = new Map([
  [40402003, 'rejected'], // text too long
  [45000000, 'channel_fault'], // speaker not granted, quota
  [45000001, 'rejected'], // invalid argument
  [45000010, 'channel_fault'], // credentials
  [45000030, 'channel_fault'], // resource not granted
  [45002000, 'rejected'], // empty speaker
  [45002001, 'rejected'], // no readable text
  [55000000, 'failed'],
  [SPEECH_BUSY, 'busy'],
])

/** Codes with several meanings, distinguished by their message. */
const REFINEMENTS: readonly [number, RegExp, SpeechFailureKind][] = [
  [45000000, /concurrency/i, 'busy'],
  [55000000, /mismatched with speaker/i, 'rejected'],
]

/**
 * Returns the kind of a code. Unknown codes go by their family: 45… and 40… are the caller's fault,
 * all others a failure of the upstream, which another channel may not have.
 */
export function classifySpeechCode(code: number, message = ''): SpeechFailureKind {
  for (const [refined, pattern, kind] of REFINEMENTS) {
    if (code === refined && pattern.test(message)) return kind
  }
  const family = Math.trunc(code / 1_000_000)
  return KINDS.get(code) ?? (family === 45 || family === 40 ? 'rejected' : 'failed')
}

const TYPES: Readonly<Record<SpeechFailureKind, string>> = {
  rejected: 'invalid_request_error',
  busy: 'rate_limit_error',
  channel_fault: 'server_error',
  failed: 'server_error',
}

/** Returns the `type` of the public error table for a code. */
export function speechErrorType(code: number, message?: string): string {
  return TYPES[classifySpeechCode(code, message)]
}
