// Raw oddities of messages upstreams, selectable by name: small changes to a correct stream.
import { isObject, type Json } from '../kernel/checks.ts'
import type { MessageAnswer } from './answer.ts'
import { type Step, step } from './stream.ts'

interface Oddity {
  description: string
  change: (steps: Step[], message: MessageAnswer) => Step[]
}

const is = (type: string) => (one: Step) => one.data.type === type
const without = (type: string) => (steps: Step[]) => steps.filter((one) => !is(type)(one))

const changing = (type: string, change: (data: Json) => Json) => (steps: Step[]) =>
  steps.map((one) => (is(type)(one) ? { ...one, data: change(one.data) } : one))

const inside = (key: string, change: (inner: Json) => Json) => (data: Json) => {
  const inner = data[key]
  return isObject(inner) ? { ...data, [key]: change(inner) } : data
}

const blockOf = (kind: string, change: (block: Json) => Json) =>
  changing(
    'content_block_start',
    inside('content_block', (block) => (block.type === kind ? change(block) : block)),
  )

const shifted = (by: (index: number) => number) => (steps: Step[]) =>
  steps.map((one) => {
    if (typeof one.data.index !== 'number') return one
    return { ...one, data: { ...one.data, index: by(one.data.index) } }
  })

function insertBefore(type: string, ...added: Step[]) {
  return (steps: Step[]): Step[] => {
    const at = steps.findIndex(is(type))
    return at < 0 ? steps : [...steps.slice(0, at), ...added, ...steps.slice(at)]
  }
}

/** Inserts a delta of another kind into the first open block of `kind`. */
function foreignDelta(kind: string, delta: Json) {
  return (steps: Step[]): Step[] => {
    const open = steps.findIndex((one) => {
      const block = one.data.content_block
      return isObject(block) && block.type === kind
    })
    if (open < 0) return steps
    const { index } = steps[open]?.data ?? {}
    const added = step({ type: 'content_block_delta', index, delta })
    return [...steps.slice(0, open + 2), added, ...steps.slice(open + 2)]
  }
}

function textBlock(index: number, text: string): Step[] {
  return [
    step({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }),
    step({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }),
    step({ type: 'content_block_stop', index }),
  ]
}

const blockCount = (steps: Step[]): number => steps.filter(is('content_block_start')).length

const argumentDeltas = (one: Step): boolean =>
  isObject(one.data.delta) && one.data.delta.type === 'input_json_delta'

function wholeInput(steps: Step[], message: MessageAnswer): Step[] {
  let call = -1
  return blockOf('tool_use', (block) => {
    call += 1
    return { ...block, input: JSON.parse(message.answer.calls[call]?.args ?? '{}') }
  })(steps.filter((one) => !argumentDeltas(one)))
}

/** Starts both tool blocks before either ends, with alternating deltas. */
function interleaved(steps: Step[]): Step[] {
  const first = steps.findIndex(is('content_block_start'))
  const after = steps.findLastIndex(is('content_block_stop')) + 1
  const body = steps.slice(first, after)
  const starts = body.filter(is('content_block_start'))
  const stops = body.filter(is('content_block_stop'))
  const deltas = body.filter(is('content_block_delta'))
  const place = (one: Step) => deltas.filter((o) => o.data.index === one.data.index).indexOf(one)
  const mixed = deltas.toSorted((left, right) => place(left) - place(right))
  return [...steps.slice(0, first), ...starts, ...mixed, ...stops, ...steps.slice(after)]
}

export const MESSAGE_ODDITIES: Record<string, Oddity> = {
  s_noevent: {
    description: 'no event: lines',
    change: (steps) => steps.map((one) => ({ ...one, event: '' })),
  },
  s_noping: { description: 'no ping', change: without('ping') },
  s_nostop: { description: 'no message_stop', change: without('message_stop') },
  s_nodelta: { description: 'no message_delta', change: without('message_delta') },
  s_noblockstop: { description: 'no content_block_stop', change: without('content_block_stop') },
  s_noblockstart: { description: 'no content_block_start', change: without('content_block_start') },
  s_empty: {
    description: 'a message without any block',
    change: (steps) => steps.filter((one) => !String(one.data.type).startsWith('content_block')),
  },
  s_index1: { description: 'the first block has index 1', change: shifted((index) => index + 1) },
  s_sameindex: { description: 'all blocks have index 0', change: shifted(() => 0) },
  s_nostartusage: {
    description: 'no usage in message_start',
    change: changing(
      'message_start',
      inside('message', ({ usage: _, ...message }) => message),
    ),
  },
  s_nodeltausage: {
    description: 'no usage in message_delta',
    change: changing('message_delta', ({ usage: _, ...data }) => data),
  },
  s_inputindelta: {
    description: 'input counts only in message_delta, 0 in message_start',
    change: changing(
      'message_start',
      inside('message', (message) => ({
        ...message,
        usage: { input_tokens: 0, output_tokens: 0 },
      })),
    ),
  },
  s_outputonly: {
    description: 'message_delta has output_tokens only, as older servers send it',
    change: changing(
      'message_delta',
      inside('usage', ({ output_tokens }) => ({ output_tokens })),
    ),
  },
  s_twostarts: {
    description: 'message_start comes twice',
    change: (steps) => steps.flatMap((one) => (is('message_start')(one) ? [one, one] : [one])),
  },
  s_twodeltas: {
    description: 'message_delta comes twice',
    change: (steps) => steps.flatMap((one) => (is('message_delta')(one) ? [one, one] : [one])),
  },
  s_thinkintext: {
    description: 'a thinking_delta inside a text block',
    change: foreignDelta('text', { type: 'thinking_delta', thinking: 'hm' }),
  },
  s_jsonintext: {
    description: 'an input_json_delta inside a text block',
    change: foreignDelta('text', { type: 'input_json_delta', partial_json: '{"a":1}' }),
  },
  s_textintool: {
    description: 'a text_delta inside a tool_use block',
    change: foreignDelta('tool_use', { type: 'text_delta', text: 'hm' }),
  },
  s_texttooltext: {
    description: 'another text block after the last one',
    change: (steps) =>
      insertBefore('message_delta', ...textBlock(blockCount(steps), 'post'))(steps),
  },
  s_unknownevent: {
    description: 'an event of an unknown type',
    change: insertBefore('message_delta', step({ type: 'vendor_notice', note: 'new' })),
  },
  s_unknowndelta: {
    description: 'a delta of an unknown type',
    change: foreignDelta('text', { type: 'vendor_delta', vendor: 'new' }),
  },
  s_unknownblock: {
    description: 'a block of an unknown type',
    change: (steps) => {
      const index = blockCount(steps)
      const content_block = { type: 'vendor_block', data: 'new' }
      return insertBefore(
        'message_delta',
        step({ type: 'content_block_start', index, content_block }),
        step({ type: 'content_block_stop', index }),
      )(steps)
    },
  },
  s_thinknofield: {
    description: 'a thinking block starts without its thinking field',
    change: blockOf('thinking', () => ({ type: 'thinking' })),
  },
  s_textnofield: {
    description: 'a text block starts without its text field',
    change: blockOf('text', () => ({ type: 'text' })),
  },
  s_nosignature: {
    description: 'no signature_delta',
    change: (steps) =>
      steps.filter((one) => {
        return !(isObject(one.data.delta) && one.data.delta.type === 'signature_delta')
      }),
  },
  s_toolnullinput: {
    description: 'a tool_use block starts with input null',
    change: blockOf('tool_use', (block) => ({ ...block, input: null })),
  },
  s_toolnodelta: {
    description: 'a tool_use block without any input_json_delta',
    change: (steps) => steps.filter((one) => !argumentDeltas(one)),
  },
  s_fullinput: {
    description: 'the whole input is in content_block_start, without deltas',
    change: wholeInput,
  },
  s_badargs: {
    description: 'the arguments are not JSON',
    change: changing(
      'content_block_delta',
      inside('delta', (delta) =>
        delta.type === 'input_json_delta' && delta.partial_json !== ''
          ? { ...delta, partial_json: '{bad' }
          : delta,
      ),
    ),
  },
  s_dupid: {
    description: 'all tool_use blocks have the same id',
    change: (steps, message) =>
      blockOf('tool_use', (block) => ({ ...block, id: message.callIds[0] }))(steps),
  },
  s_oddid: {
    description: 'tool ids contain | : and .',
    change: blockOf('tool_use', (block) => ({ ...block, id: `${block.id}|a:b.c` })),
  },
  s_toolcase: {
    description: 'the tool name has the wrong case',
    change: blockOf('tool_use', (block) => ({ ...block, name: String(block.name).toLowerCase() })),
  },
  s_endturntool: {
    description: 'stop_reason is end_turn although a tool is called',
    change: changing(
      'message_delta',
      inside('delta', (delta) => ({ ...delta, stop_reason: 'end_turn' })),
    ),
  },
  s_interleaved: { description: 'blocks are open at the same time', change: interleaved },
  s_donetail: { description: '[DONE] after message_stop', change: (steps) => steps },
}
