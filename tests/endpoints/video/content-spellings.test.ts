/** Members of a video's content have one spelling: some vendors ignore letter case. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  checkVideoRequest,
  videoRequest,
} from '../../../server/api/endpoints/video/video-request.ts'
import type { RequestParts } from '../../../server/work/pipeline/metering.ts'

const NAMES = ['type', 'text', 'image_url', 'video_url', 'audio_url', 'draft_task', 'role']
const FILM = { type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } }

function check(content: unknown): void {
  checkVideoRequest({ value: { content } } as unknown as RequestParts)
}

/** Other spellings of a name, as readers that fold letters take it: `ſ` is an s, `K` a k. */
function othersOf(names: readonly string[]): fc.Arbitrary<readonly [name: string, other: string]> {
  const letters = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 10, maxLength: 10 })
  return fc
    .tuple(fc.constantFrom(...names), letters)
    .map(([name, choices]) => {
      const other = Array.from(name, (letter, at) => {
        const forms = [letter, letter.toUpperCase(), letter === 's' ? 'ſ' : letter.toUpperCase()]
        return forms[choices[at] ?? 0] ?? letter
      })
      return [name, other.join('')] as const
    })
    .filter(([name, other]) => name !== other)
}

test('an item’s member in another letter case is refused by name', () => {
  fc.assert(
    fc.property(othersOf(NAMES), fc.boolean(), ([name, other], isBeside) => {
      const item = isBeside ? { ...FILM, [other]: 'image_url' } : { [other]: 'x' }
      const field = `content[1].${other}`
      const found = `${field}: the name of this field is '${name}'`
      assert.throws(
        () => check([{ type: 'text' }, item]),
        (error: Error) => {
          return error.message.startsWith(found)
        },
      )
    }),
  )
})

test('and so is that of an address', () => {
  fc.assert(
    fc.property(othersOf(['url', 'id']), ([, other]) => {
      const item = { ...FILM, video_url: { ...FILM.video_url, [other]: 'https://other.example' } }
      assert.throws(() => check([item]), /content\[0\]\.video_url\..+: the name of this field is/)
    }),
  )
})

test('media in an item of another type are refused: a vendor may make a video of them', () => {
  const urls = {
    image_url: { url: 'https://a.example/i' },
    audio_url: { url: 'https://a.example/a' },
  }
  const media = { ...urls, video_url: FILM.video_url, draft_task: { id: 'task_1' } }
  const read = (item: object) => videoRequest.safeParse({ model: 'm', content: [item] })
  for (const [name, one] of Object.entries(media)) {
    assert.ok(read({ type: name, [name]: one, text: 'a river' }).success, name)
    const { error } = read({ type: 'text', text: 'a river', [name]: one })
    assert.deepEqual(
      error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
      [`content.0.${name}: belongs in an item of type ${name}`],
    )
  }
})

test('what is as documented, or no content, passes to the checks of shape', () => {
  for (const content of [[FILM], [{ ...FILM, fps: 1, Fps: 2 }], [null, 'x', []], 'x', undefined]) {
    check(content)
  }
})
