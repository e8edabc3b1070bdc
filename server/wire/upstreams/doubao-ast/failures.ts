/** Classifies the vendor's refusals: HTTP answers to the upgrade, and codes of a session. */
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import { refineRejection } from '../account-refusal.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from '../failure.ts'
import type { WireResponse } from '../wire.ts'

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
 * Classifies SessionFailed. Once usage was stated the work is paid for, so that no other route
 * repeats it.
 */
export function classifyFailure(code: number, message: string, isBilled: boolean): UpstreamFailure {
  const family = Math.trunc(code / 1_000_000)
  const known = KINDS.get(code) ?? (family === CALLERS_FAMILY ? 'rejected' : 'failed')
  const kind = refineRejection(known, message, undefined)
  return new UpstreamFailure(isBilled && kind !== 'rejected' ? 'unknown' : kind, {
    code: String(code),
    message: message === '' ? `session failed with ${code}` : message,
  })
}

/** Reads a refused upgrade, whose body is `{"header": {"code", "message"}}`. */
export async function readUpgradeRefusal(response: WireResponse): Promise<UpstreamFailure> {
  const header = member(tryParseJson(await readErrorBody(response)), 'header')
  const message = asString(member(header, 'message'))
  const { status } = response
  const kind = classifyStatus(status)
  // An upgrade carries nothing of the caller's, so a fault in it is the channel's.
  return new UpstreamFailure(kind === 'rejected' ? 'channel_fault' : kind, {
    status,
    message,
  })
}
