// Raw oddities of responses upstreams, selectable by name. Those of items and of the response
// object also affect whole answers.
import { isObject, type Json, text } from '../../kernel/checks.ts'
import type { Scenario } from '../../kernel/scenario.ts'
import type { Step } from './stream.ts'

interface Oddity {
  description: string
  item?: (item: Json, all: Json[]) => Json
  response?: (response: Json) => Json
  steps?: (steps: Step[]) => Step[]
}

const TERMINAL = ['response.completed', 'response.incomplete', 'response.failed']
const typeOf = (step: Step): string => text(step.data.type)
const isTerminal = (step: Step): boolean => TERMINAL.includes(typeOf(step))

const only = (keep: (step: Step) => boolean) => (steps: Step[]) => steps.filter(keep)
const without = (type: string) => only((step) => typeOf(step) !== type)

const onCall = (change: (item: Json) => Json) => (item: Json) =>
  'call_id' in item ? change(item) : item

const onMessage = (change: (item: Json) => Json) => (item: Json) =>
  item.type === 'message' ? change(item) : item

function parsed(args: unknown): unknown {
  try {
    return JSON.parse(text(args))
  } catch {
    return args
  }
}

export const RESPONSE_ODDITIES: Record<string, Oddity> = {
  r_doneonly: {
    description: 'only output_item.done and the terminal event',
    steps: only((step) => isTerminal(step) || typeOf(step) === 'response.output_item.done'),
  },
  r_completedonly: { description: 'only the terminal event', steps: only(isTerminal) },
  r_noitemdone: { description: 'no output_item.done', steps: without('response.output_item.done') },
  r_nodeltas: {
    description: 'no deltas',
    steps: only((step) => !typeOf(step).endsWith('.delta')),
  },
  r_nocreated: { description: 'no response.created', steps: without('response.created') },
  r_noadded: {
    description: 'no output_item.added and no content_part.added',
    steps: only((step) => !typeOf(step).endsWith('.added')),
  },
  r_nocompleted: {
    description: 'no terminal event',
    steps: only((step) => !isTerminal(step)),
  },
  r_unknownevent: {
    description: 'an event of an unknown type',
    steps: (steps) => {
      const added = { data: { type: 'response.vendor_notice', note: 'new' } }
      return [...steps.slice(0, 2), added, ...steps.slice(2)]
    },
  },
  r_noevent: { description: 'no event: lines' },
  r_nosequence: { description: 'no sequence_number' },
  r_donetail: { description: '[DONE] after the terminal event' },
  r_noid: { description: 'the response has no id', response: ({ id: _, ...response }) => response },
  r_nototal: {
    description: 'usage has no total_tokens',
    response: (response) => {
      if (!isObject(response.usage)) return response
      const { total_tokens: _, ...usage } = response.usage
      return { ...response, usage }
    },
  },
  r_nodetails: {
    description: 'usage has no details',
    response: (response) => {
      if (!isObject(response.usage)) return response
      const { input_tokens, output_tokens, total_tokens } = response.usage
      return { ...response, usage: { input_tokens, output_tokens, total_tokens } }
    },
  },
  r_nocallid: {
    description: 'calls have no call_id',
    item: onCall(({ call_id: _, ...item }) => item),
  },
  r_nofcid: { description: 'calls have no id', item: onCall(({ id: _, ...item }) => item) },
  r_dupcall: {
    description: 'all calls have the same call_id',
    item: (item, all) => {
      const first = all.find((one) => 'call_id' in one)
      return onCall((call) => ({ ...call, call_id: first?.call_id }))(item)
    },
  },
  r_argsobj: {
    description: 'arguments are an object instead of a string',
    item: onCall((item) => ({ ...item, arguments: parsed(item.arguments) })),
  },
  r_emptyargs: {
    description: 'arguments are empty',
    item: onCall((item) => ({ ...item, arguments: '' })),
  },
  r_badargs: {
    description: 'arguments are not JSON',
    item: onCall((item) => ({ ...item, arguments: '{bad' })),
  },
  r_toolcase: {
    description: 'the tool name has the wrong case',
    item: onCall((item) => ({ ...item, name: text(item.name).toLowerCase() })),
  },
  r_norole: {
    description: 'messages have no role',
    item: onMessage(({ role: _, ...item }) => item),
  },
  r_nomsgid: { description: 'messages have no id', item: onMessage(({ id: _, ...item }) => item) },
}

const active = (scenario: Scenario): Oddity[] =>
  scenario.names().flatMap((name) => RESPONSE_ODDITIES[name] ?? [])

export function oddItems(items: Json[], scenario: Scenario): Json[] {
  if (scenario.empty) return items
  return active(scenario).reduce(
    (list, { item }) => (item ? list.map((one) => item(one, list)) : list),
    items,
  )
}

export function oddResponse(response: Json, scenario: Scenario): Json {
  if (scenario.empty) return response
  return active(scenario).reduce((one, oddity) => oddity.response?.(one) ?? one, response)
}

export function oddSteps(steps: Step[], scenario: Scenario): Step[] {
  if (scenario.empty) return steps
  const changed = steps.map((step) => {
    if (!isTerminal(step) || !isObject(step.data.response)) return step
    return { ...step, data: { ...step.data, response: oddResponse(step.data.response, scenario) } }
  })
  return active(scenario).reduce((list, oddity) => oddity.steps?.(list) ?? list, changed)
}
