import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import {
  countBilledCharacters,
  countHeldCharacters,
  prepareSpeechRequest,
} from '../../../server/wire/dialects/speech/request.ts'
import { anyText } from '../../support/any-text.ts'

function prepare(body: string): string {
  const bytes = Buffer.from(body)
  const parsed = parseRequestJson(bytes)
  assert.ok(parsed.ok)
  return prepareSpeechRequest(bytes, parsed.fields, parsed.value).toString()
}

test('additions sent as an object become a text, spelled as the caller spelled it', () => {
  assert.equal(
    prepare(
      '{"req_params": {"audio_params":{},"additions": { "silence": 1.0, "x":"\\"é" }, "z":1}}',
    ),
    '{"req_params": {"audio_params":{},"additions": ' +
      '"{ \\"silence\\": 1.0, \\"x\\":\\"\\\\\\"é\\" }", "z":1}}',
  )
})

for (const body of [
  '{"req_params":{"additions":"{\\"context_texts\\":[]}","audio_params":{},"text":"a"}}',
  '{"req_params":{"additions":null,"audio_params":{}}}',
  '{"req_params":{"additions":[1],"audio_params":{}}}',
  '{"req_params":{ "text" : "a", "Audio_Params" : {} },"audio_params":{"x":1.0}}',
  '{"req_params":{ "audio_params" : { "y": 2.0 } },"audio_params":{"x":1.0}}',
  '{"req_params":null,"audio_params":{"x":1.0}}',
  '{"additions":{"a":1},"audio_params":{"x":1.0}}',
]) {
  test(`the bytes stay: ${body}`, () => {
    assert.equal(prepare(body), body)
  })
}

for (const [body, sent] of [
  ['{"req_params":{}}', '{"req_params":{"audio_params":{}}}'],
  [
    '{ "audio_params": {"x": 1.0}, "req_params":{"text":"a"}}',
    '{ "req_params":{"text":"a","audio_params":{"x": 1.0}}}',
  ],
  [
    '{"req_params":{"audio_params":null,"text":"a"},"audio_params":{"x":1.0} , "user":{}}',
    '{"req_params":{"audio_params":{"x":1.0},"text":"a"} , "user":{}}',
  ],
  [
    '{"req_params":{"additions":{"y":2.0}},"audio_params":{"x":1.0}}',
    '{"req_params":{"additions":"{\\"y\\":2.0}","audio_params":{"x":1.0}}}',
  ],
  [
    '{"audio_params":null,"req_params":{}}',
    '{"audio_params":null,"req_params":{"audio_params":{}}}',
  ],
  [
    '{"req_params":{"text":"b","TEXT":"c"},"audio_params":{"x":1.0}}',
    '{"req_params":{"text":"b","audio_params":{"x":1.0}}}',
  ],
] as const) {
  test(`audio_params stand in req_params: ${body}`, () => {
    assert.equal(prepare(body), sent)
  })
}

test('a name of req_params in two letter cases is sent once, as it was quoted', () => {
  const body =
    '{"a":1.0,"req_params":{"text":"b","TEXT":"c","additions":{"x":1},"audio_params":{}}}'
  assert.equal(
    prepare(body),
    '{"a":1.0,"req_params":{"text":"b","additions":"{\\"x\\":1}","audio_params":{}}}',
  )
})

test('property: what is sent says the same, with audio_params in one place', () => {
  const key = fc.constantFrom('text', 'TEXT', 'additions', 'audio_params', 'x', '"\\\u0000')
  const audio = fc.dictionary(anyText(), fc.jsonValue(), { maxKeys: 3 })
  const value = fc.oneof(fc.jsonValue(), audio)
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.option(audio), (parameters, beside) => {
      const body = { user: {}, req_params: parameters, audio_params: beside }
      const sent = JSON.parse(prepare(JSON.stringify(body)))
      const own = parameters.audio_params ?? undefined
      assert.deepEqual(
        sent.req_params.audio_params,
        JSON.parse(JSON.stringify(own ?? beside ?? {})),
      )
      assert.equal('audio_params' in sent, own !== undefined || beside === null)
      assert.equal('text' in sent.req_params, 'text' in parameters)
    }),
  )
})

const COUNTS: readonly [string, object, number][] = [
  ['Han characters and punctuation', { text: '你好，世界。' }, 6],
  ['white space', { text: 'a b\n' }, 4],
  ['characters beyond the basic plane', { text: '😀😀' }, 2],
  ['half a surrogate pair', { text: '\ud83d' }, 1],
  ['the tags of ssml are not said', { ssml: '<speak>你好<break time="1s"/>!</speak>' }, 3],
  ['ssml wins over text', { ssml: '<speak>a</speak>', text: 'bbb' }, 1],
  ['empty ssml does not', { ssml: '', text: 'bbb' }, 3],
  ['a tag that never closes is text', { ssml: 'a < b' }, 5],
  ['character data are said', { ssml: '<speak><![CDATA[a <b> c]]>d</speak>' }, 8],
  ['character data that never end are text', { ssml: '<![CDATA[ab' }, 11],
  ['context_texts are never billed', { text: 'a', additions: { context_texts: ['bbbb'] } }, 1],
  ['no text', {}, 0],
]

for (const [name, parameters, count] of COUNTS) {
  test(`billed characters: ${name}`, () => {
    assert.equal(countBilledCharacters({ req_params: parameters }), count)
  })
}

test('billed characters of anything: 0 without req_params', () => {
  assert.equal(countBilledCharacters({}), 0)
  assert.equal(countBilledCharacters({ req_params: 'text' }), 0)
})

test('a hold covers what tags and character data may say', () => {
  const words = 'a'.repeat(1_000)
  for (const inner of [`<sub alias="${words}">b</sub>`, `<![CDATA[${words}]]>`]) {
    const ssml = `<speak>${inner}</speak>`
    assert.ok(countHeldCharacters({ req_params: { ssml } }) >= words.length, ssml)
  }
})

test('a megabyte of opening brackets is counted in linear time', () => {
  assert.equal(countBilledCharacters({ req_params: { ssml: '<'.repeat(1_000_000) } }), 1_000_000)
})

test('property: billed characters are code points', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      assert.equal(countBilledCharacters({ req_params: { text } }), [...text].length)
    }),
  )
})
