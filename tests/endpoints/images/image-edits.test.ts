/** POST /v1/images/edits and /v1/images/variations: forms, JSON, two vendors, and their book. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const EDITS = '/v1/images/edits'
const VARIATIONS = '/v1/images/variations'
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  'base64',
)
const URL = `data:image/png;base64,${PNG.toString('base64')}`
const SEEDREAM = 'doubao-seedream-4-0-250828'

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
  const base_url = `${gateway.simulators.url}/openai/v1`
  await gateway.apply({
    channels: [
      {
        id: 'o',
        upstream: 'openai-compatible',
        settings: { base_url, api_key: 'sim-openai-key', stored_ids: 'any' },
      },
    ],
    models: [
      {
        id: 'by-token',
        type: 'image',
        prices: [
          { unit: 'input_token', per: 1_000_000, amount: '5' },
          { unit: 'image_input_token', per: 1_000_000, amount: '10' },
          { unit: 'image_output_token', per: 1_000_000, amount: '40' },
        ],
        routes: [{ channel: 'o', upstream_model: 'sim-image' }],
      },
    ],
  })
})
after(() => gateway.stop())

const file = (name: string) => toFile(PNG, name, { type: 'application/octet-stream' })

async function client() {
  const { key } = await gateway.tenant()
  return { key, openai: new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 }) }
}

async function recordOf(response: Response, key: string) {
  const record = await gateway.record({ headers: response.headers }, key)
  assert.ok(Number(record.held) >= Number(record.charged), `${record.held} of ${record.charged}`)
  return record
}

/** The units that the vendor billed last. */
async function billed() {
  await gateway.simulators.book.settled()
  return gateway.simulators.book.entries({ vendor: 'openai' }).at(-1)?.units
}

async function post(path: string, body: object, key?: string): Promise<TestAnswer> {
  return gateway.post(path, key ?? (await gateway.tenant()).key, body)
}

async function form(path: string, parts: readonly (readonly [string, string | Buffer])[]) {
  const body = new FormData()
  for (const [name, part] of parts) {
    if (typeof part === 'string') body.append(name, part)
    else body.append(name, new Blob([new Uint8Array(part)]), 'a.png')
  }
  const { key } = await gateway.tenant()
  const response = await gateway.fetch(path, { method: 'POST', key, body })
  return { response, key, text: await response.text() }
}

/** The charged quantities; images that are sold by token are only counted. */
const lines = ({ lines: all }: Awaited<ReturnType<typeof recordOf>>) =>
  Object.fromEntries(
    all.flatMap(({ unit, quantity, amount }) => (amount === '0' ? [] : [[unit, quantity]])),
  )

describe('over OpenAI’s dialect', () => {
  test('the SDK’s form with several files and a mask, charged as the vendor bills', async () => {
    const { key, openai } = await client()
    const { data, response } = await openai.images
      .edit({
        model: 'by-token',
        prompt: 'Add a boat.',
        image: [await file('a.png'), await file('b.png')],
        mask: await file('mask.png'),
        size: '1024x1024',
        n: 2,
        input_fidelity: 'high',
      })
      .withResponse()
    assert.equal(data.data?.length, 2)
    const record = await recordOf(response, key)
    assert.equal(record.basis, 'usage')
    assert.deepEqual(lines(record), await billed())
    const sent = gateway.simulators.calls.list().at(-1)
    assert.equal(sent?.operation, 'images.edit')
    const bytes = Buffer.from(sent?.body_base64 ?? '', 'base64')
    assert.equal(bytes.toString('latin1').split('name="image[]"').length, 3)
    assert.ok(bytes.includes(PNG), 'the pictures arrive byte for byte')
  })

  test('one file, streamed', async () => {
    const { key, openai } = await client()
    const { data, response } = await openai.images
      .edit({ model: 'by-token', prompt: 'Add.', image: await file('a.png'), stream: true })
      .withResponse()
    const types: string[] = []
    for await (const event of data) types.push(event.type)
    assert.deepEqual(types, ['image_edit.completed'])
    assert.deepEqual(lines(await recordOf(response, key)), await billed())
  })

  test('JSON: data URLs as files, references as they are', async () => {
    const { key } = await gateway.tenant()
    for (const pictures of [
      { image: URL },
      { images: [{ image_url: URL }, { file_id: 'file-1' }] },
    ]) {
      const body = { model: 'by-token', prompt: 'Add a boat.', ...pictures }
      const answer = await post(EDITS, body, key)
      assert.equal(answer.status, 200, answer.text.slice(0, 300))
      assert.deepEqual(lines(await recordOf(answer as unknown as Response, key)), await billed())
    }
  })

  test('the hold covers sixteen pictures of the highest fidelity at the price of pictures', async () => {
    const { key } = await gateway.tenant()
    const image = Array.from({ length: 16 }, () => URL)
    const body = { model: 'by-token', prompt: 'Add.', image, input_fidelity: 'high' }
    const answer = await post(EDITS, { ...body, size: '1024x1024', quality: 'low' }, key)
    const { held } = await recordOf(answer as unknown as Response, key)
    // Each takes up to 7,500 tokens, at 10 a million.
    assert.ok(Number(held) >= 1.2, held)
  })

  test('a file at the vendor may be another customer’s: 400, and nothing is sent', async () => {
    const { key } = await gateway.tenant()
    const sent = gateway.simulators.calls.list().length
    for (const [pictures, field] of [
      [{ images: [{ file_id: 'file-1' }] }, 'images[0].file_id'],
      [{ image: URL, mask: { file_id: 'file-1' } }, 'mask.file_id'],
      [{ image: 'file-1' }, 'image'],
      [{ image: [URL, 'asset://1'] }, 'image[1]'],
      [{ images: [{ image_url: 'mm_file://1' }] }, 'images[0].image_url'],
    ] as const) {
      const body = { model: 'sim-image', prompt: 'Add.', ...pictures }
      for (const path of [EDITS, '/v1/images/async']) {
        const { status, json, text } = await post(path, body, key)
        assert.deepEqual([status, json.error?.param ?? field], [400, field], text)
        assert.match(text, /not stored for this account/)
      }
    }
    assert.equal(gateway.simulators.calls.list().length, sent)
  })

  test('an unknown field of a form reaches the vendor, whose refusal names it', async () => {
    const { response, text } = await form(EDITS, [
      ['model', 'by-token'],
      ['prompt', 'Add.'],
      ['image', PNG],
      ['x_unknown', 'y'],
    ])
    assert.equal(response.status, 400)
    assert.match(text, /x_unknown/)
  })

  test('a variation, by the piece', async () => {
    const { key, openai } = await client()
    const { data, response } = await openai.images
      .createVariation({ model: 'sim-dall-e' as 'dall-e-2', image: await file('a.png'), n: 2 })
      .withResponse()
    assert.equal(data.data?.length, 2)
    const record = await recordOf(response, key)
    assert.deepEqual([record.held, record.charged], ['0.08', '0.08'])
    assert.deepEqual(await billed(), { image: 2 })
  })

  test('without stated usage at most the hold is charged', async () => {
    const { key } = await gateway.tenant()
    const body = { model: 'by-token', prompt: 'Add. [[fault:usage=absent]]', image: URL }
    const answer = await post(EDITS, body, key)
    assert.equal(answer.status, 200, answer.text.slice(0, 300))
    assert.equal((await recordOf(answer as unknown as Response, key)).basis, 'estimate')
  })
})

describe('over ARK', () => {
  const sent = () =>
    JSON.parse(
      Buffer.from(gateway.simulators.calls.list().at(-1)?.body_base64 ?? '', 'base64').toString(),
    )

  test('pictures are references of a generation, from a form and from JSON', async () => {
    const { key, openai } = await client()
    const { response } = await openai.images
      .edit({ model: SEEDREAM, prompt: 'Add.', image: [await file('a.png'), await file('b.png')] })
      .withResponse()
    assert.deepEqual(sent().image, [URL, URL])
    assert.equal(lines(await recordOf(response, key)).image, 1)
    const images = [{ image_url: URL }]
    assert.equal((await post(EDITS, { model: SEEDREAM, prompt: 'Add.', images })).status, 200)
    assert.deepEqual(sent().image, [URL])
    assert.equal(sent().images, undefined)
  })

  for (const [name, body, message] of [
    ['a mask', { image: URL, mask: URL }, /^mask: this model takes no mask/],
    ['a file', { images: [{ file_id: 'file-1' }] }, /^images\[0\]\.file_id: /],
  ] as const) {
    test(`${name} is refused by name, and costs nothing`, async () => {
      const { key, accountId } = await gateway.tenant()
      const before = await gateway.balance(accountId)
      const answer = await post(EDITS, { model: SEEDREAM, prompt: 'Add.', ...body }, key)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.error.message, message)
      assert.deepEqual(await gateway.balance(accountId), before)
    })
  }

  test('variations are not offered: 400 that names the model', async () => {
    const answer = await post(VARIATIONS, { model: SEEDREAM, image: URL })
    assert.equal(answer.status, 400)
    assert.match(answer.json.error.message, /^model: .*not available on this path/)
  })
})

describe('400 that names the field', () => {
  const fields = [
    ['model', 'by-token'],
    ['prompt', 'Add.'],
  ] as const
  for (const [name, parts, message] of [
    ['no picture', fields, /^image: required/],
    ['a text for a picture', [...fields, ['image', 'a.png']], /^image: send it as a file/],
    [
      'a recording',
      [...fields, ['image', Buffer.from('RIFF0000WAVE')]],
      /^image: is not a picture/,
    ],
    ['another file', [...fields, ['photo', PNG]], /^photo: send pictures as image/],
    ['two masks', [...fields, ['image', PNG], ['mask', PNG], ['mask', PNG]], /^mask: given more/],
    ['two prompts', [...fields, ['image', PNG], ['prompt', 'b']], /^prompt: given more than once/],
    ['a number that is none', [...fields, ['image', PNG], ['n', 'two']], /^n: must be a/],
  ] as const) {
    test(name, async () => {
      const { response, text } = await form(EDITS, parts)
      assert.equal(response.status, 400, text)
      assert.match(JSON.parse(text).error.message, message)
    })
  }

  test('both forms of pictures', async () => {
    const body = { model: 'by-token', prompt: 'Add.', image: URL, images: [{ image_url: URL }] }
    const answer = await post(EDITS, body)
    assert.match(answer.json.error.message, /^images: /)
  })

  test('more values than a form is written from are a 400, in one list or in many', async () => {
    const base = { model: 'by-token', prompt: 'Add.', image: URL }
    const lists = Array.from({ length: 30 }, (_, index) => [`x${index}`, Array(40).fill('')])
    for (const extra of [{ x: Array(1_000).fill('') }, Object.fromEntries(lists)]) {
      const { status, json } = await post(EDITS, { ...base, ...extra })
      assert.equal(status, 400)
      assert.match(json.error.message, /^x\d*: .* at most 1000 values$/)
    }
  })

  test('broken forms are a 400, never a 5xx', async () => {
    const { key } = await gateway.tenant()
    const send = (type: string, body: string) =>
      gateway.fetch(EDITS, { method: 'POST', key, headers: { 'content-type': type }, body })
    for (const body of ['', 'x', '--x', '--x--', '--x\r\n\r\n--x--', '--x\r\ncontent-']) {
      assert.equal((await send('multipart/form-data; boundary=x', body)).status, 400, body)
    }
    assert.equal((await send('multipart/form-data', '')).status, 415)
  })

  for (const path of [EDITS, '/v1/audio/transcriptions', '/v1/files']) {
    test(`a part without a name is a 400: ${path}`, async () => {
      const { key } = await gateway.tenant()
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      for (const head of ['form-data', 'form-data; name=""']) {
        const text = `--x\r\ncontent-disposition: ${head}\r\n\r\nword\r\n--x--\r\n`
        const answer = await gateway.fetch(path, { method: 'POST', key, headers, body: text })
        assert.equal(answer.status, 400)
        assert.match(await answer.text(), /a part of the form has no name/)
      }
    })
  }
})

const body = { model: 'sim-image', prompt: 'a river', image: URL }
testCommonStatuses(() => gateway, {
  path: EDITS,
  body,
  other: { user: 'other' },
  takesForms: true,
  model: 'sim-image',
  envelope: 'nested',
  withWords: (words) => ({ ...body, prompt: words }),
  withModel: (model) => ({ path: EDITS, body: { ...body, model } }),
})
