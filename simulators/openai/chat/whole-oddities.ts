// Oddities of the chat completion as one JSON body. Names shared with the stream have the same
// meaning.
import { isObject, type Json, objects } from '../../kernel/checks.ts'
import type { Scenario } from '../../kernel/scenario.ts'

export interface WholeOddity {
  description: string
  change: (choice: Json) => Json
}

const objectOf = (value: unknown): Json => (isObject(value) ? value : {})

const onMessage =
  (change: (message: Json) => Json) =>
  (choice: Json): Json => ({ ...choice, message: change(objectOf(choice.message)) })

const onCalls = (change: (call: Json, index: number, all: Json[]) => Json) =>
  onMessage((message) => {
    const calls = objects(message.tool_calls)
    return calls.length === 0 ? message : { ...message, tool_calls: calls.map(change) }
  })

const withArguments = (value: (args: unknown) => unknown) =>
  onCalls((call) => {
    const body = objectOf(call.function)
    return { ...call, function: { ...body, arguments: value(body.arguments) } }
  })

const moveReason = (to: (reason: unknown) => Json) =>
  onMessage(({ reasoning_content: reason, ...message }) =>
    reason === undefined ? message : { ...message, ...to(reason) },
  )

const WHOLE: Record<string, (choice: Json) => Json> = {
  c_norole: onMessage(({ role: _, ...message }) => message),
  c_contentarray: onMessage((message) => ({
    ...message,
    content: [{ type: 'text', text: message.content }],
  })),
  c_refusal: onMessage((message) => ({ ...message, content: null, refusal: message.content })),
  c_reasoning: moveReason((reason) => ({ reasoning: reason })),
  c_reasoningdetails: moveReason((reason) => ({
    reasoning_details: [{ type: 'reasoning.text', text: reason }],
  })),
  c_thinkfield: moveReason((reason) => ({ thinking: reason })),
  c_toolargsobj: withArguments((args) => JSON.parse(String(args))),
  c_toolemptyargs: withArguments(() => ''),
  c_toolbadargs: withArguments(() => '{bad'),
  c_toolnoid: onCalls(({ id: _, ...call }) => call),
  c_toolemptyid: onCalls((call) => ({ ...call, id: '' })),
  c_toolsameid: onCalls((call, _, all) => ({ ...call, id: all[0]?.id })),
  c_tooloddid: onCalls((call) => ({ ...call, id: `${call.id}|a:b.c` })),
  c_toolcase: onCalls((call) => {
    const body = objectOf(call.function)
    return { ...call, function: { ...body, name: String(body.name).toLowerCase() } }
  }),
  c_legacyfn: (choice) => {
    const { tool_calls: calls, ...message } = objectOf(choice.message)
    const call = objects(calls)[0]
    if (!call) return choice
    const finish_reason = 'function_call'
    return { ...choice, message: { ...message, function_call: call.function }, finish_reason }
  },
  c_stopwithtools: (choice) =>
    choice.finish_reason === 'tool_calls' ? { ...choice, finish_reason: 'stop' } : choice,
  c_nofin: (choice) => ({ ...choice, finish_reason: null }),
}

/** Oddities that only a whole body can show. */
const ONLY_WHOLE: Record<string, WholeOddity> = {
  c_nullcontent: {
    description: 'content is null and no tool is called (whole body only)',
    change: onMessage((message) => ({ ...message, content: null })),
  },
  c_stopreason: {
    description: 'vLLM names the stop sequence it met in choices[0].stop_reason (whole body only)',
    change: (choice) => ({ ...choice, stop_reason: 'END' }),
  },
}

export const WHOLE_ONLY_ODDITIES = ONLY_WHOLE

export function oddWhole(body: Json, scenario: Scenario): Json {
  if (scenario.empty) return body
  let choices = objects(body.choices)
  for (const name of scenario.names()) {
    const change = WHOLE[name] ?? ONLY_WHOLE[name]?.change
    if (change) choices = choices.map(change)
  }
  if (scenario.has('c_n2')) {
    const message = { role: 'assistant', content: 'other', refusal: null }
    choices = [...choices, { index: 1, message, logprobs: null, finish_reason: 'stop' }]
  }
  return { ...body, choices }
}
