/** Responses made in the background, by the real SDK against the vendor alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { until } from '../../support/until.ts'
import { simulated } from '../support.ts'

const sim = simulated()
const client = () =>
  new OpenAI({ apiKey: 'sim-openai-key', baseURL: `${sim.url}/openai/v1`, maxRetries: 0 })
const create = (input: string, more: object = {}) =>
  client().responses.create({ model: 'sim-chat', input, background: true, ...more })
const ended = (id: string) =>
  until('the end', async () => {
    const response = await client().responses.retrieve(id)
    return ['queued', 'in_progress'].includes(response.status ?? '') ? undefined : response
  })
const book = (marker: string) => sim.running.book.entries({ marker })

test('queued without usage, then completed with it, billed once', async () => {
  const made = await create('[[call:bg-1]][[say:some words]]')
  assert.deepEqual([made.status, made.usage, made.output], ['queued', null, []])
  assert.deepEqual(book('bg-1'), [])
  const done = await ended(made.id)
  assert.deepEqual([done.status, done.output_text], ['completed', 'some words'])
  const [entry, ...others] = book('bg-1')
  assert.equal(others.length, 0)
  assert.equal(entry?.units.output_token, done.usage?.output_tokens)
})

test('a cancelled one shows no usage, and is billed for what it made; again changes nothing', async () => {
  const made = await create('[[call:bg-2]][[tokens:50]][[fault:queue-time=0;run-time=5000]]')
  await until('something made', async () => {
    const { status } = await client().responses.retrieve(made.id)
    return status === 'in_progress' || undefined
  })
  const cancelled = await client().responses.cancel(made.id)
  assert.deepEqual([cancelled.status, cancelled.usage], ['cancelled', null])
  assert.equal((await client().responses.cancel(made.id)).status, 'cancelled')
  assert.equal(book('bg-2').length, 1)
  assert.ok(Number(book('bg-2')[0]?.units.output_token ?? 0) < 50)
})

test('a stream that is cut is resumed after the last event that was seen', async () => {
  const text = '[[call:bg-3]][[tokens:20]][[fault:reset-mid=5]]'
  const stream = await client().responses.create({
    model: 'sim-chat',
    input: text,
    background: true,
    stream: true,
  })
  const seen: number[] = []
  let id = ''
  await assert.rejects(async () => {
    for await (const event of stream) {
      seen.push(event.sequence_number)
      if (event.type === 'response.created') id = event.response.id
    }
  })
  const rest = await client().responses.retrieve(id, {
    stream: true,
    starting_after: seen.at(-1) ?? 0,
  })
  let last = ''
  for await (const event of rest) {
    seen.push(event.sequence_number)
    last = event.type
  }
  assert.equal(last, 'response.completed')
  assert.deepEqual(
    seen,
    seen.map((_, index) => index),
  )
  assert.equal(book('bg-3').length, 1)
})

test('one that fails is not billed', async () => {
  const made = await create('[[call:bg-4]][[fault:fail-task]]')
  const failed = await ended(made.id)
  assert.deepEqual([failed.status, failed.usage], ['failed', null])
  assert.deepEqual(
    book('bg-4').map(({ billed }) => billed),
    [false],
  )
})
