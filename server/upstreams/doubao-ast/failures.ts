/** What the vendor's refusals mean: HTTP answers to the upgrade, and codes of a session. */
import { asString, member, tryParseJson } from '../../lib/json.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from '../failure.ts'
import type { WireResponse } from '../upstream.ts'

const KINDS: ReadonlyMap<number, FailureKind> = new Map([
  [45000001, 'rejected'], // invalid parameter
  [45000002, 'rejected'], // empty audio
  [45000010, 'channel_fault'], // credentials
  [45000030, 'channel_fault'], // resource not granted
  [45000081, 'failed'], // waited too long for audio: ours or the network's doing, not the caller's
  [45000151, 'rejected'], // audio format
  [55000031, 'busy'],
])
const CALLERS_FAMILY = 45

/**
 * Of event SessionFailed. Once usage was stated the work is paid for, so that nobody else is asked
 * to do it again.
 */
export function classifyFailure(code: number, message: string, isBilled: boolean): UpstreamFailure {
  const family = Math.trunc(code / 1_000_000)
  const kind = KINDS.get(code) ?? (family === CALLERS_FAMILY ? 'rejected' : 'failed')
  return new UpstreamFailure(isBilled && kind !== 'rejected' ? 'unknown' : kind, {
    code: String(code),
    message: message === '' ? `session failed with ${code}` : message,
  })
}

/** The upgrade was refused, with a nested body: `{"header": {"code", "message"}}`. */
export async function readRefusal(response: WireResponse): Promise<UpstreamFailure> {
  const header = member(tryParseJson(await readErrorBody(response)), 'header')
  const message = asString(member(header, 'message'))
  const { status } = response
  const kind = classifyStatus(status)
  // Nothing of the caller's is in an upgrade: what is wrong with it is the channel's.
  return new UpstreamFailure(kind === 'rejected' ? 'channel_fault' : kind, {
    status,
    message,
  })
}
