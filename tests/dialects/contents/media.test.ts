/** Media in requests: what is sent is what the hold was measured for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { measureContents } from '../../../server/api/endpoints/text/billing/measure-contents.ts'
import { translateToContents } from '../../../server/wire/dialects/chat-over-contents/request.ts'

const OPTIONS = {
  generation: { number: 3, thinks: true, isPro: false },
  stream: false,
  sellsSearch: false,
  hasIds: true,
  replacesSignatures: false,
}

function translate(part: unknown): unknown {
  const { body } = translateToContents({ messages: [{ role: 'user', content: [part] }] }, OPTIONS)
  return JSON.parse(body.toString()).contents[0].parts[0]
}

for (const [url, part] of [
  ['data:image/jpg;base64,AAAA', { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } }],
  ['https://m.example/a.webp?x=1', { fileData: { fileUri: 1, mimeType: 'image/webp' } }],
  ['https://m.example/a', { fileData: { fileUri: 1, mimeType: 'image/jpeg' } }],
] as const) {
  test(`an image: ${url}`, () => {
    const expected = 'fileData' in part ? { fileData: { ...part.fileData, fileUri: url } } : part
    assert.deepEqual(translate({ type: 'image_url', image_url: { url } }), expected)
  })
}

for (const url of [
  'data:video/mp4;base64,AAAA',
  'data:audio/wav;base64,AAAA',
  'data:text/plain;base64,AAAA',
  'data:application/pdf;base64,AAAA',
  'data:;base64,AAAA',
  'https://m.example/a.mp4',
  'https://m.example/a.MP3?b=c.png',
  'https://www.youtube.com/watch?v=1',
  'https://youtu.be/1',
]) {
  test(`no image: ${url}`, () => {
    const refusal = { param: 'messages[0].content[0]' }
    assert.throws(() => translate({ type: 'image_url', image_url: { url } }), refusal)
    assert.throws(() => translate({ type: 'image_url', image_url: url }), refusal)
  })
}

for (const input_audio of [
  { data: 'data:video/mp4;base64,AAAA' },
  { data: 'data:text/plain;base64,AAAA', format: 'wav' },
  { data: 'AAAA', format: '../video/mp4' },
]) {
  test(`no sound: ${JSON.stringify(input_audio)}`, () => {
    const refusal = { param: 'messages[0].content[0].input_audio' }
    assert.throws(() => translate({ type: 'input_audio', input_audio }), refusal)
  })
}

test('a video by its address has no bound, whatever type is said', () => {
  const boundOf = (fileUri: string) => {
    const parts = [{ fileData: { fileUri, mimeType: 'image/png' } }]
    return measureContents({ contents: [{ parts }] }).elsewhereTokens
  }
  assert.equal(boundOf('https://YouTube.com/watch?v=1'), Number.POSITIVE_INFINITY)
  assert.equal(boundOf('https://youtu.be/1'), Number.POSITIVE_INFINITY)
  assert.ok(boundOf('https://m.example/youtu.be/1') < 100_000)
})
