/** POST /v1/audio/speech/unidirectional, black box: a native stream, billed by characters. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const ROUTE = '/v1/audio/speech/unidirectional'
const PATH = `${ROUTE}?model=seed-tts-2.0`
const SPEAKER = 'zh_female_vv_uranus_bigtts'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

function say(text: string, more: object = {}) {
  return { req_params: { text, speaker: SPEAKER, audio_params: {}, ...more } }
}

const lines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('200: audio, an end, and a charge by the last text_words', async () => {
  const { key } = await gateway.tenant()
  const answer = await gateway.post(PATH, key, say('你好，世界'))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  const objects = lines(answer.text)
  assert.ok(objects.some((object) => object.data))
  assert.equal(objects.at(-1).code, 20000000)
  const record = await gateway.record(answer, key)
  assert.equal(record.basis, 'usage')
  assert.deepEqual(
    record.lines.map(({ unit, quantity }) => [unit, quantity]),
    [['character', 5]],
  )
})

test('the query takes precedence over the header for the model; one is required', async () => {
  const { key } = await gateway.tenant()
  const header = { 'x-api-resource-id': 'seed-tts-2.0' }
  assert.equal((await gateway.post(ROUTE, key, say('a'), header)).status, 200)
  const other = { 'x-api-resource-id': 'no-such-model' }
  assert.equal((await gateway.post(PATH, key, say('a'), other)).status, 200)
  const answer = await gateway.post(ROUTE, key, say('a'))
  assert.equal(answer.status, 400)
  assert.deepEqual(answer.json, {
    error: 'model field is required',
    type: 'invalid_request_error',
  })
})

test('X-Api-Key is a credential here as well', async () => {
  const { key } = await gateway.tenant()
  const response = await gateway.fetch(PATH, {
    method: 'POST',
    headers: { 'X-Api-Key': key, 'content-type': 'application/json' },
    body: JSON.stringify(say('hello')),
  })
  assert.equal(response.status, 200)
  await response.text()
})

test('additions may be an object or its text; context_texts are not billed', async () => {
  const { key } = await gateway.tenant()
  const additions = { context_texts: ['please speak very slowly and kindly'] }
  for (const form of [additions, JSON.stringify(additions)]) {
    const answer = await gateway.post(PATH, key, say('four', { additions: form }))
    assert.equal(lines(answer.text).at(-1).code, 20000000, answer.text.slice(-200))
    assert.equal((await gateway.record(answer, key)).lines[0]?.quantity, 4)
  }
})

test('requested subtitles are passed on', async () => {
  const { key } = await gateway.tenant()
  const body = say('你好', { audio_params: { enable_subtitle: true } })
  const answer = await gateway.post(PATH, key, body)
  assert.ok(lines(answer.text).some((object) => object.sentence?.words?.length > 0))
})

test('audio_params are passed on from beside req_params; none are needed', async () => {
  const { key } = await gateway.tenant()
  const words = { text: '你好', speaker: SPEAKER }
  const beside = { req_params: words, audio_params: { enable_subtitle: true } }
  const answer = await gateway.post(PATH, key, beside)
  assert.ok(lines(answer.text).some((object) => object.sentence?.words?.length > 0))
  const none = await gateway.post(PATH, key, { req_params: words })
  assert.equal(lines(none.text).at(-1).code, 20000000, none.text.slice(-200))
})

test('400: text and speaker are required', async () => {
  const { key } = await gateway.tenant()
  for (const [body, message] of [
    [{}, /^req_params: required/],
    [{ req_params: { speaker: SPEAKER } }, /^req_params\.text: /],
    [{ req_params: { text: '', speaker: SPEAKER } }, /^req_params\.text: /],
    [{ req_params: { text: 'x' } }, /^req_params\.speaker: required/],
    [say('x', { additions: 7 }), /^req_params\.additions: /],
    [{ ...say('x'), audio_params: 'mp3' }, /^audio_params: /],
    // A vendor may read the longer text, which would be held as the short one.
    [{ req_params: { ssml: 'x', Text: 'longer', speaker: SPEAKER } }, /^req_params\.Text: /],
    [say('x', { SSML: '<speak>longer</speak>' }), /^req_params\.SSML: /],
  ] as const) {
    const answer = await gateway.post(PATH, key, body)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.match(answer.json.error, message)
  }
})

test('a rejection before the stream is an error of this API, and costs nothing', async () => {
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const body = { req_params: { text: 'x', speaker: 'zh_male_x_moon_bigtts', audio_params: {} } }
  const answer = await gateway.post(PATH, key, body)
  assert.equal(answer.status, 400, answer.text)
  assert.equal(answer.json.type, 'invalid_request_error')
  assert.match(answer.json.error, /mismatched with speaker/)
  assert.equal((await gateway.record(answer, key)).status, 'failed')
  assert.deepEqual(await gateway.balance(accountId), before)
})

test('without usage the characters of the text are charged', async () => {
  const { key } = await gateway.tenant()
  const words = 'hello [[fault:usage=absent]]'
  const answer = await gateway.post(PATH, key, say(words))
  const record = await gateway.record(answer, key)
  assert.equal(record.basis, 'estimate', answer.text.slice(-200))
  assert.equal(record.lines[0]?.quantity, words.length)
})

test('ssml beside text: the hold counts both, the charge what the vendor states', async () => {
  const { key } = await gateway.tenant()
  for (const [words, said, quantity, basis] of [
    ['a longer text', '你好', 2, 'usage'],
    ['a longer text', 'hello [[fault:usage=absent]]', 28, 'estimate'],
  ] as const) {
    const ssml = `<speak>${said}</speak>`
    const both = await gateway.post(PATH, key, say(words, { ssml }))
    const record = await gateway.record(both, key)
    assert.equal(record.basis, basis, both.text.slice(-200))
    assert.equal(record.lines[0]?.quantity, quantity)
    const joined = await gateway.post(PATH, key, say(words + ssml))
    assert.equal(record.held, (await gateway.record(joined, key)).held)
  }
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: say('hello'),
  model: 'seed-tts-2.0',
  envelope: 'flat',
  withWords: (words) => say(words),
  withModel: (model) => ({ path: `${ROUTE}?model=${model}`, body: say('hello') }),
})
