/** Many small requests that are refused, and slots that are taken and kept. */
import { type Attack, type Manner, request } from './attack.ts'

const CHAT = '/v1/chat/completions'
const FAST: Manner = { kind: 'flood', perSecond: 150, connections: 20 }

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})

/** Headers of 14 kB together, below the limits. */
const MANY_HEADERS = Object.fromEntries(
  Array.from({ length: 90 }, (_, at) => [`x-header-${at}`, 'h'.repeat(140)]),
)

export const FLOOD_ATTACKS: readonly Attack[] = [
  {
    name: 'flood of 402',
    role: 'without balance',
    manner: FAST,
    prepare: ({ poor }) => [request(CHAT, poor, chat('sim-chat'))],
  },
  {
    name: 'flood of 429',
    role: 'small balance',
    manner: FAST,
    prepare: ({ limited }) => [request(CHAT, limited, chat('sim-chat'))],
  },
  {
    name: 'flood of invalid JSON',
    role: 'without balance',
    manner: FAST,
    prepare: ({ poor }) => [request(CHAT, poor, Buffer.from('{"model": sim-chat}'))],
  },
  {
    name: 'flood of headers',
    role: 'without balance',
    manner: FAST,
    prepare: ({ poor }) => [request(CHAT, poor, chat('sim-chat'), MANY_HEADERS)],
  },
  {
    name: 'flood of 431',
    role: 'without balance',
    manner: { kind: 'flood', perSecond: 50, connections: 20 },
    prepare: ({ poor }) => [request(CHAT, poor, chat('x'), { 'x-large': 'h'.repeat(20_000) })],
  },
  {
    name: 'flood of 401',
    role: 'without balance',
    manner: FAST,
    prepare: () => [request(CHAT, `tr-${'a'.repeat(49)}`, chat('sim-chat'))],
  },
  {
    name: 'slow calls that fill the slots',
    role: 'small balance',
    manner: { kind: 'unread', connections: 1_000 },
    prepare: ({ hoarder }) => [request(CHAT, hoarder, chat('liar-never'))],
  },
  {
    name: 'requests of 2 MB whose hold is too dear',
    role: 'small balance',
    manner: { kind: 'flood', perSecond: 10, connections: 4 },
    prepare: ({ small }) => {
      const messages = [{ role: 'user', content: 'w '.repeat(1_000_000) }]
      return [request(CHAT, small, { model: 'sim-reasoner', n: 100, messages })]
    },
  },
  {
    name: 'cheap calls in a hurry',
    role: 'small balance',
    manner: { kind: 'flood', perSecond: 50, connections: 10 },
    prepare: ({ small }) => [request(CHAT, small, chat('sim-chat', { max_tokens: 1 }))],
  },
]
