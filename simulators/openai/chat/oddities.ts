// Raw oddities of chat upstreams, selectable by name. Each is a small change to the list of chunks
// that a correct upstream would send. `description` says which.
import { isObject, type Json, objects } from '../../kernel/checks.ts'
import { type ChatAnswer, chatUsage } from './answer.ts'
import type { Step } from './stream.ts'
import { TOOL_ODDITIES } from './tool-oddities.ts'

export interface Oddity {
  description: string
  change: (steps: Step[], chat: ChatAnswer) => Step[]
}

const choiceOf = (step: Step): Json | undefined => objects(step.chunk.choices)[0]

function deltaOf(step: Step): Json | undefined {
  const delta = choiceOf(step)?.delta
  return isObject(delta) ? delta : undefined
}

/** Returns a copy of the step with another first choice. */
function withChoice(step: Step, change: Json): Step {
  const choices = objects(step.chunk.choices)
  const first = { ...choices[0], ...change }
  return { ...step, chunk: { ...step.chunk, choices: [first, ...choices.slice(1)] } }
}

const withDelta = (step: Step, delta: unknown): Step => withChoice(step, { delta })

const onDelta =
  (change: (delta: Json, step: Step) => unknown) =>
  (steps: Step[]): Step[] =>
    steps.map((step) => {
      const delta = deltaOf(step)
      return delta ? withDelta(step, change(delta, step)) : step
    })

const isFinish = (step: Step): boolean => typeof choiceOf(step)?.finish_reason === 'string'

function rename(from: string, to: (value: unknown) => Json): (steps: Step[]) => Step[] {
  return onDelta((delta) => {
    if (!(from in delta)) return delta
    const { [from]: value, ...rest } = delta
    return { ...rest, ...to(value) }
  })
}

/** Returns a copy of the role chunk with other contents, to be inserted. */
function extra(steps: Step[], delta: unknown, more: Json = {}): Step {
  const model = steps[0] ?? { chunk: {} }
  const { units: _, ...bare } = model
  return withChoice(bare, { delta, finish_reason: null, ...more })
}

function insertAfterFirst(steps: Step[], ...added: Step[]): Step[] {
  return [...steps.slice(0, 1), ...added, ...steps.slice(1)]
}

const STREAM_ODDITIES: Record<string, Oddity> = {
  c_norole: {
    description: 'no delta has a role',
    change: onDelta(({ role: _, ...rest }) => rest),
  },
  c_noindex: {
    description: 'choices have no index',
    change: (steps) => steps.map((step) => withChoice(step, { index: undefined })),
  },
  c_nochoices: {
    description: 'a chunk without choices comes after the first one',
    change: (steps) => {
      const { choices: _, ...chunk } = steps[0]?.chunk ?? {}
      return insertAfterFirst(steps, { chunk })
    },
  },
  c_nulldelta: {
    description: 'a chunk with delta null, and null content and tool_calls',
    change: (steps) =>
      insertAfterFirst(
        steps,
        extra(steps, null),
        extra(steps, { content: null, tool_calls: null }),
        extra(steps, {}),
      ),
  },
  c_nodelta: {
    description: 'a chunk without delta, and none in the finish chunk',
    change: (steps) =>
      insertAfterFirst(steps, extra(steps, undefined)).map((step) =>
        isFinish(step) ? withDelta(step, undefined) : step,
      ),
  },
  c_usageonfinish: {
    description: 'usage is in the finish chunk, requested or not',
    change: (steps, chat) =>
      steps.map((step) => (isFinish(step) ? withUsage(step, chatUsage(chat)) : step)),
  },
  c_usageevery: {
    description: 'running usage is in every chunk',
    change: (steps, chat) => runningUsage(steps, chat),
  },
  c_usagenull: {
    description: 'every chunk has usage null, requested or not',
    change: (steps) => steps.map((step) => withUsage(step, null)),
  },
  c_emptyfin: {
    description: 'finish_reason is "" instead of null on every chunk before the last',
    change: (steps) =>
      steps.map((step) => (isFinish(step) ? step : withChoice(step, { finish_reason: '' }))),
  },
  c_nofin: {
    description: 'no finish chunk at all',
    change: (steps) => steps.filter((step) => !isFinish(step)),
  },
  c_twofin: {
    description: 'the finish chunk comes twice',
    change: (steps) => steps.flatMap((step) => (isFinish(step) ? [step, step] : [step])),
  },
  c_contentafterfin: {
    description: 'the last delta comes after the finish chunk',
    change: (steps) => {
      const at = steps.findIndex(isFinish)
      const [late, finish] = [steps[at - 1], steps[at]]
      if (!late || !finish) return steps
      return [...steps.slice(0, at - 1), finish, late, ...steps.slice(at + 1)]
    },
  },
  c_finwithcontent: {
    description: 'the last delta and finish_reason come in one chunk',
    change: (steps) => {
      const at = steps.findIndex(isFinish)
      const [last, finish] = [steps[at - 1], steps[at]]
      if (at < 1 || !last || !finish) return steps
      const joined = withChoice(last, { finish_reason: choiceOf(finish)?.finish_reason })
      return [...steps.slice(0, at - 1), joined, ...steps.slice(at + 1)]
    },
  },
  c_n2: {
    description: 'an unrequested second choice, with other text',
    change: (steps) =>
      steps.flatMap((step) => {
        const delta = deltaOf(step)
        if (!delta || typeof delta.content !== 'string') return [step]
        const { units: _, ...bare } = withChoice(step, { index: 1, delta: { content: 'other ' } })
        return [step, bare]
      }),
  },
  c_allinone: {
    description: 'reasoning, content and the first tool call in one chunk',
    change: (steps) => allInOne(steps),
  },
  c_reasoning: {
    description: 'reasoning comes as delta.reasoning',
    change: rename('reasoning_content', (value) => ({ reasoning: value })),
  },
  c_reasoningdetails: {
    description: 'reasoning comes as delta.reasoning_details',
    change: rename('reasoning_content', (value) => ({
      reasoning_details: [{ type: 'reasoning.text', text: value, index: 0 }],
    })),
  },
  c_thinkfield: {
    description: 'reasoning comes as delta.thinking',
    change: rename('reasoning_content', (value) => ({ thinking: value })),
  },
  c_thinktag: {
    description: 'reasoning comes inside the content between <think> tags',
    change: (steps) => thinkTags(steps),
  },
  c_refusal: {
    description: 'the text comes as delta.refusal',
    change: rename('content', (value) => (value === '' ? {} : { refusal: value })),
  },
  c_contentarray: {
    description: 'content is a list of text parts',
    change: rename('content', (value) => ({ content: [{ type: 'text', text: value }] })),
  },
  c_textaftertool: {
    description: 'half of the text comes after the tool calls',
    change: (steps) => textAfterTools(steps),
  },
}

export function withUsage(step: Step, usage: unknown): Step {
  return { ...step, chunk: { ...step.chunk, usage } }
}

/** Adds running usage; also ARK's `chunk_include_usage`. */
export function runningUsage(steps: Step[], chat: ChatAnswer): Step[] {
  const final = chatUsage(chat)
  const input = Number(final.prompt_tokens)
  let output = 0
  return steps.map((step) => {
    output += step.units ?? 0
    if (isFinish(step)) return withUsage(step, final)
    const running = { completion_tokens: output, total_tokens: input + output }
    return withUsage(step, { ...final, ...running })
  })
}

const carries = (step: Step, key: string): boolean => Boolean(deltaOf(step)?.[key])

function allInOne(steps: Step[]): Step[] {
  const reason = steps.find((step) => carries(step, 'reasoning_content'))
  const content = steps.find((step) => carries(step, 'content'))
  const call = steps.find((step) => carries(step, 'tool_calls'))
  const parts = [reason, content, call].filter((step) => step !== undefined)
  if (parts.length < 2 || !parts[0]) return steps
  const delta: Json = Object.assign({}, ...parts.map(deltaOf))
  const units = parts.reduce((sum, step) => sum + (step.units ?? 0), 0)
  const joined = { ...withDelta(parts[0], delta), units }
  const rest = steps.slice(1).filter((step) => !parts.includes(step))
  return [...steps.slice(0, 1), joined, ...rest]
}

function thinkTags(steps: Step[]): Step[] {
  const thoughts = steps.filter((step) => carries(step, 'reasoning_content'))
  return steps.map((step) => {
    const delta = deltaOf(step)
    if (!delta?.reasoning_content) return step
    const open = step === thoughts[0] ? '<think>' : ''
    const close = step === thoughts.at(-1) ? '</think>' : ''
    return withDelta(step, { content: `${open}${String(delta.reasoning_content)}${close}` })
  })
}

function textAfterTools(steps: Step[]): Step[] {
  const texts = steps.filter((step) => carries(step, 'content'))
  const late = texts.slice(Math.ceil(texts.length / 2))
  const finish = steps.findIndex(isFinish)
  const early = steps.filter((step, at) => at < finish && !late.includes(step))
  return [...early, ...late, ...steps.slice(finish)]
}

export const CHAT_STREAM_ODDITIES: Record<string, Oddity> = {
  ...STREAM_ODDITIES,
  ...TOOL_ODDITIES,
}

/** Oddities of the closing line, which is not a chunk. */
export const ENDINGS: Record<string, { description: string; data: string[] }> = {
  c_nodone: { description: 'no [DONE]', data: [] },
  c_donespace: { description: '[DONE] with spaces around it', data: ['data:  [DONE] \n\n'] },
  c_donetwice: { description: '[DONE] twice', data: ['data: [DONE]\n\n', 'data: [DONE]\n\n'] },
  c_dataafterdone: {
    description: 'a chunk after [DONE]',
    data: [
      'data: [DONE]\n\n',
      'data: {"id":"late","object":"chat.completion.chunk","created":1,"model":"late",' +
        '"choices":[{"index":0,"delta":{"content":" LATE"},"finish_reason":null}]}\n\n',
    ],
  },
}
