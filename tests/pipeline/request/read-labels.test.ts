/** The tags and the end user of a request: of any request, at most what is allowed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../../server/base/lib/errors.ts'
import type { KeyTags } from '../../../server/money/accounts/accounts.ts'
import { readLabels } from '../../../server/work/pipeline/request/read-labels.ts'
import { parseObject } from '../../../server/work/pipeline/request/read-request.ts'

const TAKES: KeyTags = { tags: [], allowTags: true, requiredTags: [] }

function read(value: object, tagging?: KeyTags, header?: string) {
  const headers = header === undefined ? {} : { 'x-tags': header }
  const request = parseObject(Buffer.from(JSON.stringify(value)))
  return readLabels(request, tagging ? { tagging } : {}, headers)
}

function refuses(value: object, tagging: KeyTags | undefined, header: string, message: RegExp) {
  assert.throws(
    () => read(value, tagging, header),
    (error) => error instanceof GatewayError && error.status === 400 && message.test(error.message),
  )
}

test('the first of user, metadata.user_id and safety_identifier is the end user', () => {
  assert.equal(read({ a: 1 }).labels, undefined)
  const all = { safety_identifier: 's', metadata: { user_id: 'm' }, user: 'u' }
  assert.deepEqual(read(all).labels, { end_user: 'u' })
  assert.deepEqual(read({ ...all, user: '' }).labels, { end_user: 'm' })
  assert.deepEqual(read({ ...all, user: 7, metadata: 'x' }).labels, { end_user: 's' })
  const { labels } = read({ user: 'x'.repeat(300) })
  assert.match(labels?.end_user ?? '', /^hash:[\w-]{43}$/)
})

test('tags of the key come first, then those of the header and of the body', () => {
  const tagging = { ...TAKES, tags: ['web'] }
  const value = { metadata: { tags: ['b', 'web'], user_id: 'u', other: 1.5 } }
  const { labels, request } = read(value, tagging, ' a , , b')
  assert.deepEqual(labels, { tags: ['web', 'a', 'b'], end_user: 'u' })
  assert.equal(request.body.toString(), '{"metadata":{"user_id":"u","other":1.5}}')
  assert.deepEqual(read({ metadata: { tags: 'a,b' } }, TAKES).labels, { tags: ['a', 'b'] })
  const utf8 = Buffer.from('部门:蓝').toString('latin1')
  assert.deepEqual(read({}, TAKES, utf8).labels, { tags: ['部门:蓝'] })
})

test('a key that takes no tags leaves metadata to the vendor, and refuses the header', () => {
  const value = { metadata: { tags: ['a'] } }
  const fixed = { tags: ['web'], allowTags: false, requiredTags: [] }
  for (const tagging of [undefined, fixed]) {
    const { labels, request } = read(value, tagging)
    assert.deepEqual(labels?.tags, tagging?.tags)
    assert.equal(request.body.toString(), JSON.stringify(value))
    refuses(value, tagging, 'a', /X-Tags: this key takes no tags/)
  }
})

test('a required tag is stated by itself or with a value, and then counts by itself', () => {
  const tagging = { tags: [], allowTags: false, requiredTags: ['team'] }
  assert.deepEqual(read({}, tagging, 'team').labels, { tags: ['team'] })
  assert.deepEqual(read({}, tagging, 'team:blue').labels, { tags: ['team:blue', 'team'] })
  refuses({}, tagging, '', /requires a tag, "team" or "team:…", in X-Tags or metadata.tags/)
  refuses({}, tagging, 'teams', /requires a tag, "team"/)
  refuses(
    {},
    tagging,
    'team,other',
    /X-Tags or metadata.tags: this key takes only the tags that it requires, not "other"/,
  )
  assert.deepEqual(read({}, { ...tagging, tags: ['team:red'] }).labels?.tags, ['team:red', 'team'])
})

test('malformed tags are refused by name', () => {
  refuses({}, TAKES, 'x'.repeat(65), /X-Tags: a tag has 1 to 64 characters/)
  refuses({}, TAKES, 'a,b,c,d,e,f,g,h,i', /X-Tags: at most 8 tags/)
  refuses({ metadata: { tags: ['f', 'g', 'h', 'i'] } }, TAKES, 'a,b,c,d,e', /at most 8 tags/)
  refuses({}, TAKES, '\u00fc', /X-Tags: must be in UTF-8/)
  refuses({}, TAKES, 'a"b', /X-Tags: a tag has no commas, quotes/)
  refuses({ metadata: { tags: [1] } }, TAKES, '', /metadata.tags.*must be a list of tags/)
  refuses({ metadata: { tags: ['a,b'] } }, TAKES, '', /metadata.tags.*no commas/)
})

test('whatever a caller sends, tags are few, short and plain, or the request is refused', () => {
  const junk = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('team', 'team:x', 'a,b'))
  const tags = fc.oneof(fc.array(junk, { maxLength: 12 }), junk, fc.anything())
  const property = fc.property(tags, junk, fc.boolean(), (inBody, header, allowTags) => {
    const metadata = JSON.parse(JSON.stringify({ tags: inBody }) ?? '{}')
    const key = { tags: ['web'], allowTags, requiredTags: ['team'] }
    try {
      const { labels, request } = read({ metadata }, key, Buffer.from(header).toString('latin1'))
      const found = labels?.tags ?? []
      assert.ok(found.length <= 10 && found.includes('web') && found.includes('team'))
      assert.ok(found.every((tag) => [...tag].length <= 64 && !/[",[\]\\\n]/.test(tag)))
      assert.equal(request.value.metadata && Object.hasOwn(request.value.metadata, 'tags'), false)
    } catch (error) {
      assert.ok(error instanceof GatewayError && error.status === 400, String(error))
    }
  })
  fc.assert(property, { numRuns: 500 })
})
