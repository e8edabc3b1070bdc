// Raw oddities of responses upstreams, selectable by name. Those of items and of the response
// object also affect whole answers.
import { isObject, type Json, text } from '../../kernel/checks.ts'
import type { Scenario } from '../../kernel/scenario.ts'
import type { Step } from './stream.ts'

interface Oddity {
  what: string
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
    what: 'only output_item.done and the terminal event',
    steps: only((step) => isTerminal(step) || typeOf(step) === 'response.output_item.done'),
  },
  r_completedonly: { what: 'only the terminal event', steps: only(isTerminal) },
  r_noitemdone: { what: 'no output_item.done', steps: without('response.output_item.done') },
  r_nodeltas: {
    what: 'no deltas',
    steps: only((step) => !typeOf(step).endsWith('.delta')),
  },
  r_nocreated: { what: 'no response.created', steps: without('response.created') },
  r_noadded: {
    what: 'no output_item.added and no content_part.added',
    steps: only((step) => !typeOf(step).endsWith('.added')),
  },
  r_nocompleted: {
    what: 'no terminal event',
    steps: only((step) => !isTerminal(step)),
  },
  r_unknownevent: {
    what: 'an event of an unknown type',
    steps: (steps) => {
      const added = { data: { type: 'response.vendor_notice', note: 'new' } }
      return [...steps.slice(0, 2), added, ...steps.slice(2)]
    },
  },
  r_noevent: { what: 'no event: lines' },
  r_nosequence: { what: 'no sequence_number' },
  r_donetail: { what: '[DONE] after the terminal event' },
  r_noid: { what: 'the response has no id', response: ({ id: _, ...response }) => response },
  r_nototal: {
    what: 'usage has no total_tokens',
    response: (response) => {
      if (!isObject(response.usage)) return response
      const { total_tokens: _, ...usage } = response.usage
      return { ...response, usage }
    },
  },
  r_nodetails: {
    what: 'usage has no details',
    response: (response) => {
      if (!isObject(response.usage)) return response
      const { input_tokens, output_tokens, total_tokens } = response.usage
      return { ...response, usage: { input_tokens, output_tokens, total_tokens } }
    },
  },
  r_nocallid: { what: 'calls have no call_id', item: onCall(({ call_id: _, ...item }) => item) },
  r_nofcid: { what: 'calls have no id', item: onCall(({ id: _, ...item }) => item) },
  r_dupcall: {
    what: 'all calls have the same call_id',
    item: (item, all) => {
      const first = all.find((one) => 'call_id' in one)
      return onCall((call) => ({ ...call, call_id: first?.call_id }))(item)
    },
  },
  r_argsobj: {
    what: 'arguments are an object instead of a string',
    item: onCall((item) => ({ ...item, arguments: parsed(item.arguments) })),
  },
  r_emptyargs: {
    what: 'arguments are empty',
    item: onCall((item) => ({ ...item, arguments: '' })),
  },
  r_badargs: {
    what: 'arguments are not JSON',
    item: onCall((item) => ({ ...item, arguments: '{bad' })),
  },
  r_toolcase: {
    what: 'the tool name has the wrong case',
    item: onCall((item) => ({ ...item, name: text(item.name).toLowerCase() })),
  },
  r_norole: { what: 'messages have no role', item: onMessage(({ role: _, ...item }) => item) },
  r_nomsgid: { what: 'messages have no id', item: onMessage(({ id: _, ...item }) => item) },
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
