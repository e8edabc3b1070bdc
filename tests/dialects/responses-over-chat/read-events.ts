/**
 * Reads a Responses stream as a strict client would: every rule of the protocol is an assertion.
 * Gives back the types of the events, and the response of the last.
 */
import assert from 'node:assert/strict'
import { readSseFrame } from '../../../server/wire/dialects/sse.ts'

export interface Part {
  readonly type: string
  readonly text?: string
  readonly refusal?: string
  readonly annotations?: readonly unknown[]
}

export interface Item {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly call_id: string
  readonly name: string
  readonly namespace?: string
  readonly arguments: string
  readonly input: string
  readonly content: readonly Part[]
  readonly summary: readonly Part[]
}

export interface Response {
  readonly id: string
  readonly status: string
  readonly model: string
  readonly error: { readonly code: string; readonly message: string }
  readonly incomplete_details: unknown
  readonly output: readonly Item[]
  readonly usage: { readonly [field: string]: unknown }
  readonly [echo: string]: unknown
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly response: Response
  readonly output_index?: number
  readonly content_index?: number
  readonly summary_index?: number
  readonly item_id: string
  readonly item: Item
  readonly part: Part
  readonly delta: string
  readonly text?: string
  readonly refusal?: string
  readonly arguments?: string
  readonly input?: string
}

export interface ReadStream {
  /** The response of the last event. */
  readonly response: Response
  /** The type of the last event. */
  readonly ending: string
  readonly types: readonly string[]
}

const ENDINGS = ['response.completed', 'response.incomplete', 'response.failed']
const LIFECYCLE = ['response.created', 'response.in_progress', ...ENDINGS]

export function readEvents(text: string): ReadStream {
  const events = parse(text)
  const types = events.map(({ type }) => type)
  for (const [position, event] of events.entries()) {
    assert.equal(event.sequence_number, position, 'sequence numbers count from 0')
  }
  assert.deepEqual(types.slice(0, 2), ['response.created', 'response.in_progress'])
  assert.equal(types.filter((type) => ENDINGS.includes(type)).length, 1, 'one last event')
  const last = events.at(-1)
  assert.ok(last && ENDINGS.includes(last.type), 'the last event is last')
  const done = checkItems(events, last.type !== 'response.failed')
  if (last.type !== 'response.failed') assert.deepEqual(last.response.output, done)
  for (const { response } of events.filter(({ type }) => LIFECYCLE.includes(type))) {
    assert.equal(response.id, last.response.id)
  }
  return { response: last.response, ending: last.type, types }
}

function parse(text: string): Event[] {
  assert.ok(text.endsWith('\n\n'), 'whole events')
  const frames = text.slice(0, -2).split('\n\n')
  return frames.map((frame) => {
    const event = readSseFrame(Buffer.from(`${frame}\n\n`))
    const data = JSON.parse(event?.data ?? '')
    assert.equal(event?.event, data.type, 'the event line says the type')
    return data
  })
}

/** Every item: added once, filled while open, done once, its parts paired; returns those done. */
function checkItems(events: readonly Event[], mustClose: boolean): Item[] {
  const added: Item[] = []
  const done: Item[] = []
  const texts = new Map<string, string>()
  const openParts = new Set<string>()
  for (const event of events) {
    const { type, output_index: index } = event
    if (index === undefined) continue
    const part = `${index}/${event.content_index ?? event.summary_index ?? ''}`
    if (type === 'response.output_item.added') {
      assert.equal(index, added.length, 'output indexes are contiguous')
      added.push(event.item)
      continue
    }
    const item = added[index]
    assert.ok(item && !done[index], `${type} while its item is open`)
    if (type === 'response.output_item.done') {
      assert.equal(event.item.id, item.id)
      assert.ok(![...openParts].some((key) => key.startsWith(`${index}/`)), 'parts are closed')
      done[index] = event.item
      continue
    }
    assert.equal(event.item_id, item.id)
    checkPart(event, part, texts, openParts)
  }
  if (mustClose) assert.equal(done.filter(Boolean).length, added.length, 'every item is done')
  return done
}

function checkPart(
  event: Event,
  part: string,
  texts: Map<string, string>,
  open: Set<string>,
): void {
  const { type } = event
  if (type.endsWith('_part.added')) {
    assert.ok(!open.has(part))
    open.add(part)
  } else if (type.endsWith('_part.done')) {
    assert.ok(open.delete(part))
    assert.equal(event.part.text ?? event.part.refusal, texts.get(part))
  } else if (type === 'response.output_text.annotation.added') {
    assert.ok(open.has(part))
  } else if (type.startsWith('response.web_search_call.')) {
    assert.ok(!open.has(part))
  } else if (type.endsWith('.delta')) {
    texts.set(part, (texts.get(part) ?? '') + event.delta)
  } else {
    const whole = event.text ?? event.refusal ?? event.arguments ?? event.input
    assert.equal(whole, texts.get(part) ?? '', 'the deltas add up to what is done')
  }
}
