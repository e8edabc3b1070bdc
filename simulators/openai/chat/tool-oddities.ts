// Oddities of streamed tool calls, in a file of their own because there are many.
import { isObject, type Json, objects } from '../../kernel/checks.ts'
import type { ChatAnswer } from './answer.ts'
import type { Step } from './stream.ts'

interface Oddity {
  description: string
  change: (steps: Step[], chat: ChatAnswer) => Step[]
}

function entriesOf(step: Step): Json[] {
  const delta = objects(step.chunk.choices)[0]?.delta
  return isObject(delta) ? objects(delta.tool_calls) : []
}

function withEntries(step: Step, entries: Json[]): Step {
  const choices = objects(step.chunk.choices)
  const before = choices[0]?.delta
  const delta = { ...(isObject(before) ? before : {}), tool_calls: entries }
  return { ...step, chunk: { ...step.chunk, choices: [{ ...choices[0], delta }] } }
}

type Change = (entry: Json, chat: ChatAnswer) => Json

const onEntry =
  (change: Change) =>
  (steps: Step[], chat: ChatAnswer): Step[] =>
    steps.map((step) => {
      const entries = entriesOf(step)
      if (entries.length === 0) return step
      const changed = entries.map((entry) => change(entry, chat))
      return withEntries(step, changed)
    })

const isHead = (entry: Json): boolean => typeof entry.id === 'string' && entry.id !== ''
const functionOf = (entry: Json): Json => (isObject(entry.function) ? entry.function : {})
const withFunction = (entry: Json, change: Json): Json => ({
  ...entry,
  function: { ...functionOf(entry), ...change },
})

/** Joins all argument pieces into the chunk that opens the call. */
function inOneChunk(value: (args: string) => unknown) {
  return (steps: Step[], chat: ChatAnswer): Step[] =>
    steps.flatMap((step) => {
      const entry = entriesOf(step)[0]
      if (!entry) return [step]
      if (!isHead(entry)) return []
      const args = chat.answer.calls[Number(entry.index)]?.args ?? ''
      const units = chat.answer.tokens.calls[Number(entry.index)] ?? 0
      return [{ ...withEntries(step, [withFunction(entry, { arguments: value(args) })]), units }]
    })
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args)
  } catch {
    return args
  }
}

export const TOOL_ODDITIES: Record<string, Oddity> = {
  c_toolidrepeat: {
    description: 'id, type and name are repeated on every argument chunk',
    change: onEntry((entry, chat) => {
      const at = Number(entry.index)
      const named = withFunction(entry, { name: chat.answer.calls[at]?.tool.name })
      return { ...named, id: chat.callIds[at], type: 'function' }
    }),
  },
  c_toolemptyid: {
    description: 'continuations have an empty id and an empty name',
    change: onEntry((entry) =>
      isHead(entry) ? entry : withFunction({ ...entry, id: '' }, { name: '' }),
    ),
  },
  c_toolnullname: {
    description: 'continuations have a null id and a null name',
    change: onEntry((entry) =>
      isHead(entry) ? entry : withFunction({ ...entry, id: null }, { name: null }),
    ),
  },
  c_toollatename: {
    description: 'the name arrives one chunk after the id',
    change: (steps) =>
      steps.flatMap((step) => {
        const entry = entriesOf(step)[0]
        if (!entry || !isHead(entry)) return [step]
        const { name, ...rest } = functionOf(entry)
        const late = withEntries(step, [{ index: entry.index, function: { name } }])
        const { units: _, ...bare } = late
        return [withEntries(step, [{ ...entry, function: rest }]), bare]
      }),
  },
  c_toolnoindex: {
    description: 'tool calls have no index',
    change: onEntry(({ index: _, ...entry }) => entry),
  },
  c_toolidx1: {
    description: 'the index of the first tool call is 1',
    change: onEntry((entry) => ({ ...entry, index: Number(entry.index) + 1 })),
  },
  c_toolsameidx: {
    description: 'all tool calls have index 0',
    change: onEntry((entry) => ({ ...entry, index: 0 })),
  },
  c_toolnoid: {
    description: 'tool calls have no id',
    change: onEntry(({ id: _, ...entry }) => entry),
  },
  c_toolsameid: {
    description: 'all tool calls have the same id',
    change: onEntry((entry, chat) => (isHead(entry) ? { ...entry, id: chat.callIds[0] } : entry)),
  },
  c_tooloddid: {
    description: 'ids contain characters that other dialects refuse',
    change: onEntry((entry) => (isHead(entry) ? { ...entry, id: `${entry.id}|a:b.c` } : entry)),
  },
  c_toolcase: {
    description: 'the name has the wrong case',
    change: onEntry((entry) => {
      const { name } = functionOf(entry)
      return typeof name === 'string' ? withFunction(entry, { name: name.toLowerCase() }) : entry
    }),
  },
  c_toolargsobj: {
    description: 'arguments are an object instead of a string',
    change: inOneChunk(parsed),
  },
  c_toolwholeargs: {
    description: 'arguments come complete in the chunk with the name',
    change: inOneChunk((args) => args),
  },
  c_toolemptyargs: { description: 'arguments are empty', change: inOneChunk(() => '') },
  c_toolbadargs: { description: 'arguments are not JSON', change: inOneChunk(() => '{bad') },
  c_tooltwoinchunk: {
    description: 'two argument pieces of one call are in one chunk',
    change: (steps) =>
      steps.map((step) => {
        const entry = entriesOf(step)[0]
        const args = entry && functionOf(entry).arguments
        if (!entry || typeof args !== 'string' || args.length < 2) return step
        const half = Math.ceil(args.length / 2)
        const first = withFunction(entry, { arguments: args.slice(0, half) })
        const second = { index: entry.index, function: { arguments: args.slice(half) } }
        return withEntries(step, [first, second])
      }),
  },
  c_toolhalfescape: {
    description: 'characters beyond ASCII are escaped and an escape is split over two chunks',
    change: (steps, chat) =>
      steps.flatMap((step) => {
        const entry = entriesOf(step)[0]
        if (!entry) return [step]
        if (isHead(entry)) return [step, ...halfEscapes(step, entry, chat)]
        return []
      }),
  },
  c_legacyfn: {
    description: 'the call comes as delta.function_call with finish_reason function_call',
    change: (steps) => steps.map(legacy),
  },
  c_stopwithtools: {
    description: 'finish_reason is stop although tools are called',
    change: (steps) => steps.map((step) => finishing(step, 'stop')),
  },
}

function halfEscapes(step: Step, head: Json, chat: ChatAnswer): Step[] {
  const index = Number(head.index)
  const args = chat.answer.calls[index]?.args ?? ''
  const escaped = args.replace(/[^ -~]/g, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  const start = escaped.indexOf('\\u')
  const middle = start < 0 ? Math.ceil(escaped.length / 2) : start + 4
  const units = (chat.answer.tokens.calls[index] ?? 0) - (step.units ?? 0)
  return [escaped.slice(0, middle), escaped.slice(middle)].map((piece, at) => ({
    ...withEntries(step, [{ index, function: { arguments: piece } }]),
    units: at === 0 ? units : 0,
  }))
}

function legacy(step: Step): Step {
  const entry = entriesOf(step)[0]
  if (!entry) return finishing(step, 'function_call')
  const choices = objects(step.chunk.choices)
  const choice = { ...choices[0], delta: { function_call: entry.function } }
  return { ...step, chunk: { ...step.chunk, choices: [choice] } }
}

function finishing(step: Step, reason: string): Step {
  const choice = objects(step.chunk.choices)[0]
  if (choice?.finish_reason !== 'tool_calls') return step
  return { ...step, chunk: { ...step.chunk, choices: [{ ...choice, finish_reason: reason }] } }
}
