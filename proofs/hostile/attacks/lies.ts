/** Calls that make the lying vendor answer. */
import { type Attack, type Manner, request } from './attack.ts'

const STREAMS: Manner = { kind: 'flood', perSecond: 4, connections: 20 }
const WHOLE: Manner = { kind: 'flood', perSecond: 20, connections: 10 }

function lie(name: string, title: string, manner: Manner): Attack {
  const messages = [{ role: 'user', content: 'hello' }]
  const body = { model: `liar-${name}`, messages, stream: manner === STREAMS }
  return {
    name: title,
    role: 'lying vendor',
    manner,
    prepare: ({ deceived }) => [request('/v1/chat/completions', deceived, body)],
  }
}

export const LIE_ATTACKS: readonly Attack[] = [
  lie('endless-line', 'a line that does not end', STREAMS),
  lie('one-byte', 'chunks of one byte', STREAMS),
  lie('large-events', 'events of 8 MB', STREAMS),
  lie('absurd-usage', 'absurd usage', WHOLE),
  lie('broken-gzip', 'broken gzip', WHOLE),
  lie('gzip-bomb', 'gzip of 100 MB', { ...WHOLE, perSecond: 4 }),
]
