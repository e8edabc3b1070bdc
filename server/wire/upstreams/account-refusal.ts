/**
 * Recognises refusals about the channel's account by their words: some vendors refuse for quota or
 * concurrency reasons with a status and a code that blame the request.
 */
import { writeJson } from '../../base/lib/json.ts'
import type { FailureKind } from './failure.ts'

const LIMIT = '(?:limit|exceed|quota|too many|reached)'
const BUSY = new RegExp(
  [
    `concurren\\w{0,9}\\W[^.]{0,40}${LIMIT}|${LIMIT}[^.]{0,40}concurren`,
    '\\btoo many requests\\b|\\brate.?limit|\\b(?:qps|rpm|tpm)\\b[^.]{0,20}(?:limit|exceed)',
    '\u5e76\u53d1|\u9650\u6d41|\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41',
  ].join('|'),
  'i',
)
const CHANNEL = new RegExp(
  [
    '\\bquotas?\\b|\\binsufficient[_ -](?:balance|credits?|funds)\\b|\\bout of credits?\\b',
    '\\b(?:incorrect|invalid|unknown) api[ _-]?key\\b',
    '\\bapi[ _-]?key (?:is )?(?:not valid|invalid)',
    '\\bbalance is (?:too low|insufficient|not enough)|\\barrear|\\boverdue\\b|\\bbilling\\b',
    '\u4f59\u989d\u4e0d\u8db3|\u6b20\u8d39|\u989d\u5ea6',
  ].join('|'),
  'i',
)

/**
 * Returns `kind`, or for a rejection the kind that its words indicate. Words from the request
 * itself are ignored: vendors repeat them, and a caller could use them to put a channel into
 * cooldown.
 */
export function refineRejection(
  kind: FailureKind,
  message: string | undefined,
  value: unknown,
): FailureKind {
  if (kind !== 'rejected' || message === undefined) return kind
  const busy = BUSY.exec(message)?.[0]
  const found = busy ?? CHANNEL.exec(message)?.[0]
  if (found === undefined) return kind
  if (
    writeJson(value ?? null)
      .toLowerCase()
      .includes(found.toLowerCase())
  )
    return kind
  return busy === undefined ? 'channel_fault' : 'busy'
}
