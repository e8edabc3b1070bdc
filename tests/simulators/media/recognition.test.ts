import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { untilValue } from '../../support/until.ts'
import { type Answer, KEYS, list, simulated } from '../support.ts'

const SUBMIT = '/openspeech/api/v3/auc/bigmodel/submit'
const QUERY = '/openspeech/api/v3/auc/bigmodel/query'
const sim = simulated({ timeScale: 0.001 })

const body = (url: string, request: object = {}) => ({
  audio: { url, format: 'wav' },
  request: { model_name: 'bigmodel', ...request },
})
const code = ({ headers }: Answer) => Number(headers['x-api-status-code'])
const as = (id: string) => ({ ...KEYS.recognition, 'x-api-request-id': id })
const submit = (id: string, url: string, request: object = {}) =>
  sim.post(SUBMIT, as(id), body(url, request))
const query = (id: string) => sim.post(QUERY, as(id), {})
const ended = (id: string) =>
  untilValue(
    () => query(id),
    (seen) => code(seen) !== 20000001 && code(seen) !== 20000002,
  )

test('the request id is the task; utterances with speakers; billed by duration', async () => {
  const id = randomUUID()
  const more = { enable_speaker_info: true, show_utterances: true }
  const made = await submit(id, `${sim.url}/media/samples/speech.wav?seconds=20`, more)
  assert.deepEqual([made.status, made.text, code(made)], [200, '', 20000000])
  const { json } = await ended(id)
  assert.equal(json.audio_info?.duration, 20_000)
  const utterances = list(json.result?.utterances)
  assert.deepEqual(
    utterances.slice(0, 3).map(({ additions }) => additions?.speaker),
    ['1', '2', '1'],
  )
  assert.equal(json.result?.text, utterances.map(({ text }) => text).join(' '))
  const [entry] = sim.running.book.entries({ operation: 'recognition.submit' })
  assert.deepEqual([entry?.request_id, entry?.units], [id, { second: 20 }])
})

test('without a request for them there are no utterances and no speakers', async () => {
  const id = randomUUID()
  await submit(id, 'https://a.example/a.wav?[[fault:polls=1;media-seconds=5]]')
  assert.deepEqual(Object.keys((await query(id)).json.result ?? {}), ['text'])
})

test('the same request id again is refused; an unknown one is not found', async () => {
  const id = randomUUID()
  await submit(id, 'https://a.example/a.wav')
  assert.equal(code(await submit(id, 'https://a.example/a.wav')), 45000001)
  assert.equal(code(await query(randomUUID())), 45000001)
})

test('a submission whose answer is lost can be found by its id', async () => {
  const id = randomUUID()
  const lost = await submit(id, 'https://a.example/a.wav?[[fault:lost-answer=502]]')
  assert.equal(lost.status, 502)
  assert.equal(code(await ended(id)), 20000000)
})

test('outcomes in the headers: silence, format, busy, and an HTTP status where it is one', async () => {
  const outcomes: [string, number][] = [
    [`${sim.url}/media/samples/silence.wav`, 20000003],
    [`${sim.url}/sim`, 45000151],
    ['https://a.example/a.wav?[[fault:fail-task=55000031]]', 55000031],
  ]
  for (const [address, expected] of outcomes) {
    const id = randomUUID()
    await submit(id, address)
    assert.equal(code(await ended(id)), expected)
  }
  const limited = await submit(randomUUID(), 'https://a.example/a.wav?[[fault:status=429]]')
  assert.equal(limited.status, 429)
  const busy = 'https://a.example/a.wav?[[fault:error-200;error-code=55000031]]'
  assert.equal(code(await submit(randomUUID(), busy)), 55000031)
})
