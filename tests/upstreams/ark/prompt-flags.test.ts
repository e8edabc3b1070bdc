/** What a prompt orders by its flags is what is held for and sent, or it is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { arkVideo } from '../../../server/wire/upstreams/ark/video.ts'

const DEFAULTS = { resolution: '720p', ratio: 'adaptive', duration: 5, generate_audio: true }

function orderOf(text: string, sent: Readonly<Record<string, unknown>> = {}) {
  return {
    settings: { base_url: 'http://127.0.0.1', api_key: 'none', callbacks: false },
    upstreamModel: 'doubao-seedance-1-0-pro-250528',
    parameters: { ...DEFAULTS, content: [{ type: 'text', text }], ...sent },
    sentFields: new Set(['content', ...Object.keys(sent)]),
    details: {},
  } as unknown as Parameters<typeof arkVideo.prepare>[0]
}
const prepare = (text: string, sent = {}) => arkVideo.prepare(orderOf(text, sent))

test('flags are held for as the parameters that they are', () => {
  const asParameters = prepare('a cat', { resolution: '1080p', duration: 12 })
  for (const text of [
    'a cat --rs 1080p --dur 12',
    'a cat --RESOLUTION 1080P --duration=12',
    'a cat\n--dur 12\t--seed 7 --rs  1080p --wm true',
    'a cat--dur 12 (--rs 1080p',
    'a cat --dur12 --rs:1080p',
    'a cat\u200b---dur,12 —rs 1080p',
    'a cat －－ｄｕｒ １２ --resolution：1080p',
    'a cat --d\u200bur 12 --\u00adrs 1\u2060080p',
  ]) {
    assert.deepEqual(prepare(text), asParameters, text)
  }
  assert.deepEqual(prepare('a cat --rs 480p', { resolution: '480p' }).facts.resolution, '480p')
  assert.deepEqual(prepare('a cat --frames 289'), prepare('a cat', { frames: 289 }))
})

test('flags that contradict the request, the rules or each other are refused', () => {
  for (const [text, sent, problem] of [
    ['a cat --dur 12', { duration: 5 }, "content: '--dur 12' contradicts duration"],
    ['a cat --rs 1080p', { resolution: '480p' }, "content: '--rs 1080p' contradicts resolution"],
    ['a cat --dur 5 --dur 12', {}, "content: '--dur 12' contradicts duration"],
    ['a cat --dur 12', { frames: 29 }, "content: '--dur 12' contradicts frames"],
    ['a cat --frames 289', { duration: 5 }, "content: '--frames 289' contradicts duration"],
    ['a cat --dur long', {}, "content: '--dur long' is not a number"],
    ['a cat', { frames: '289' }, 'frames: must be a whole number'],
  ] as const) {
    assert.throws(() => prepare(text, sent), { message: problem })
  }
  assert.throws(() => prepare('a cat --dur 90'), /duration/)
  assert.throws(() => prepare('a cat --rs 8k'), /resolution/)
})

test('other texts order nothing', () => {
  const plain = prepare('a cat')
  for (const text of [
    'a --cat 12',
    'a cat --durable 12',
    'a cat —duration of a life',
    'a cat --dur',
    '-- dur 12',
    '--constructor 1',
  ]) {
    assert.deepEqual(prepare(text), plain, text)
  }
})

test('the request to the vendor has the flags of the prompt', async () => {
  let sent = ''
  const wire = {
    async send({ body }: { body: Buffer }) {
      sent = body.toString()
      throw new Error('enough')
    },
  } as unknown as Parameters<typeof arkVideo.submit>[0]
  await assert.rejects(arkVideo.submit(wire, orderOf('a cat --rs 1080p --dur 12'), { id: 'a' }))
  const { resolution, duration } = JSON.parse(sent)
  assert.deepEqual({ resolution, duration }, { resolution: '1080p', duration: 12 })
})

test('property: no prompt makes a request cost less than its parameters, or fails otherwise', () => {
  const word = fc.constantFrom('--dur', '--rs', '--frames', '12', '5', '1080p', '480p', 'cat', '--')
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (words) => {
      const sent = { resolution: '480p', duration: 5 }
      let held: number | undefined
      try {
        held = prepare(words.join(' '), sent).quantities.output_token
      } catch (error) {
        assert.match(String(error), /^UpstreamFailure: content: /)
        return
      }
      assert.equal(held, prepare('a cat', sent).quantities.output_token)
    }),
  )
})
