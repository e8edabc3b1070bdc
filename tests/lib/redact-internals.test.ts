/** A vendor's inside stays inside: addresses, paths and keys, and nothing else is hidden. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactInStrings, redactInternals } from '../../server/base/lib/text/redact-internals.ts'

const INSIDE: readonly (readonly [text: string, secret: RegExp])[] = [
  ['connect ECONNREFUSED 10.0.0.5:8000', /10\.0|8000/],
  ['upstream http://gpu-17.prod.internal:8080/v1?key=abc failed', /gpu|8080|abc/],
  ['dial tcp [fd00::12]:443: i/o timeout', /fd00/],
  ['host vllm-7d9f8b6c5d-x2x4z not found', /vllm/],
  ['lookup redis.default.svc.cluster.local: no such host', /redis|svc/],
  ['File "/usr/lib/python3/engine.py", line 120', /python3/],
  ['Incorrect API key provided: sk-proj-abcdEFGH1234567890abcd', /sk-proj/],
  ['Authorization: Bearer abc.def-123456', /def-/],
  ['http%3A%2F%2F10.1.2.3%3A8080', /10\.1/],
  ['10.0.\u200b0.1 refused', /10\.0/],
  ['no such key abc-3f2b8a1c-77aa-4b1e-9c3d-0123456789ab', /3f2b8a1c/],
  ['backend3:9000 and localhost:3000', /backend|localhost/],
  ['postgres://u:p@db.prod:5432/x', /db\.prod/],
  ['see https://docs.prod.internal/errors', /prod/],
  [`upstream https://gpu-4.vendor.example.com/${'a'.repeat(300)} failed`, /gpu-4/],
  ['{"error":"api_key=sk-live-0123456789abcdef0123"}', /sk-live/],
  [`${'word '.repeat(198)}at 10.11.12.13 and more`, /10\.11/],
  ['invalid token: a8f5f167f44f4964e6c998dee827110c', /a8f5/],
  ['https://api.vendor-inside.com/v1/chat', /vendor-inside/],
  ['\u8bf7\u6c42 http://192.168.1.5:8080/infer \u5931\u8d25', /192/],
]

test('addresses, paths and keys are hidden', () => {
  for (const [text, secret] of INSIDE) assert.doesNotMatch(redactInternals(text), secret, text)
})

test('what helps the caller stays word for word', () => {
  for (const text of [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'messages[0].content[1].image_url.url: invalid base64',
    'tools.0.function.parameters.properties.x: must be object',
    'at 12:30:45 UTC, ratio must be 16:9, std::vector',
    'See https://platform.openai.com/docs/guides/error-codes for more',
    'token: must be a string',
    'request id req_0123456789abcdef0123456789ab',
    'The parameter is not valid. Request id: 021742123355501000000000000000000000ffffac15a2b3c4d5e',
    'unsupported key: response_format, unknown token: messages.0.content',
    'Unexpected token: 128009 at position 4096',
    'tools[0].parameters.properties.info: must be object; messages.0.content.test is unknown',
    'unknown fields transcription_timestamp_granularities, transformation_settings2',
    'status-code:40001 and error.code:10013',
    'gpt-4o-mini-2024-07-18, qwen2.5:72b and claude-opus-4-20250514 take 1.5:1 to 16:9',
    `one of ${['auto', 'none', 'required'].join('|').repeat(20)}`,
    'See https://www.volcengine.com/docs/82379/1541594.',
    '\u552f\u4e00\u652f\u6301\u7684\u683c\u5f0f\u4e3a mp3\u3001wav',
  ]) {
    assert.equal(redactInternals(text), text)
  }
})

test('what the caller wrote stays, and nothing that only looks like it', () => {
  const link = `http://localhost:3000/${'x'.repeat(200)}/cat.png?sig=0123456789abcdef&host=10.1.2.3`
  const request = JSON.stringify({ image_url: link, file: '/data/cat.png' })
  const known = (words: string) => request.includes(words)
  for (const text of [`cannot fetch ${link}.`, `'${link}': 404`, 'no such file: /data/cat.png!']) {
    assert.equal(redactInternals(text, known), text)
  }
  const other = 'cannot fetch http://localhost:3001/dog.png from http://10.1.2.4:80/'
  assert.equal(redactInternals(other, known), 'cannot fetch [address] from [address]')
})

test('JSON without anything to hide is returned as it is, however deep', () => {
  const document = { error: { message: 'too long', code: 5, details: [null, true, 'x'] } }
  assert.equal(redactInStrings(document), document)
  assert.deepEqual(redactInStrings({ a: [{ b: 'at 10.0.0.1' }], c: 1 }), {
    a: [{ b: 'at [address]' }],
    c: 1,
  })
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
  assert.ok(JSON.stringify(redactInStrings(deep)).length < 200)
})

test('no more of a document is searched than takes some milliseconds', () => {
  for (const text of ['x', 'a.com '.repeat(166)]) {
    const shown = redactInStrings(Array(100_000).fill(text)) as string[]
    assert.ok(shown.indexOf('…') > 60, text)
    assert.ok(shown.indexOf('…') <= 2_048, text)
  }
})

test('a text crafted to slow a pattern down is read in little time', () => {
  for (const piece of ['a-', 'a.', 'ip-1-', ':', 'key=', '%2F', '/a', '1.', 'https://']) {
    assert.ok(redactInternals(piece.repeat(100_000)).length < 12_000, piece)
    assert.ok(
      redactInternals(`${piece.repeat(40).slice(0, 119)} `.repeat(8)).length < 12_000,
      piece,
    )
  }
})
