import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { describeProblem, locateProblem } from '../../server/base/lib/text/describe-problem.ts'

const blocks = z.array(z.looseObject({ type: z.string() }))

const CASES: readonly [z.ZodType, unknown, string][] = [
  [z.string(), undefined, 'required'],
  [z.string(), null, 'must be a string'],
  [z.boolean(), 'yes', 'must be true or false'],
  [z.looseObject({}), [], 'must be an object'],
  [z.record(z.string(), z.string()), 5, 'must be an object'],
  [z.int(), 1.5, 'must be a whole number'],
  [z.int(), '1', 'must be a number'],
  [z.coerce.number(), 'abc', 'must be a number'],
  [z.coerce.date(), 'soon', 'must be a time in ISO 8601'],
  [z.iso.datetime(), 'soon', 'must be a time in ISO 8601'],
  [z.url(), 'nowhere', 'must be an address such as https://example.com'],
  [z.stringbool(), 'perhaps', 'must be true or false'],
  [z.string().min(1), '', 'must not be empty'],
  [z.array(z.string()).min(1), [], 'must not be empty'],
  [z.string().min(3), 'ab', 'must have at least 3 characters'],
  [z.string().max(1), 'ab', 'must have at most 1 character'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
  [z.string().length(4), 'ab', 'must have exactly 4 characters'],
  [z.int().min(1), 0, 'must be at least 1'],
  [z.int().max(50), 51, 'must be at most 50'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.enum(['web', 'global']), 'moon', "must be one of 'web', 'global'"],
  [z.enum(['web', 'global']), undefined, 'required'],
  [z.literal('web'), 'moon', "must be 'web'"],
  [z.strictObject({}), { colour: 1 }, "unknown field 'colour'"],
  [z.union([z.string(), blocks]), 5, 'must be a string or an array'],
  [z.union([z.string(), blocks]), undefined, 'required'],
]

for (const [schema, given, words] of CASES) {
  test(`${JSON.stringify(given)}: ${words}`, () => {
    const parsed = schema.safeParse(given, { error: describeProblem })
    assert.equal(parsed.error?.issues[0]?.message, words)
  })
}

test('a schema’s own words come first', () => {
  const schema = z.string({ error: 'a name, please' })
  const parsed = schema.safeParse(5, { error: describeProblem })
  assert.equal(parsed.error?.issues[0]?.message, 'a name, please')
})

test('inside of a union of lists the alternative that fits furthest tells', () => {
  const texts = z.array(z.string())
  const numbers = z.array(z.int().nonnegative({ abort: true }))
  const schema = z.union([z.string(), texts, numbers, z.array(numbers)], 'a text or a list')
  for (const [value, path, message] of [
    [['a', 'b', 1], [2], 'must be a string'],
    [[-1], [0], 'must be at least 0'],
    [[1, 2, 'a'], [2], 'must be a number'],
    [[[1], [-1]], [1, 0], 'must be at least 0'],
    [[null], [], 'a text or a list'],
    [5, [], 'a text or a list'],
  ] as const) {
    const [issue] = schema.safeParse(value, { error: describeProblem }).error?.issues ?? []
    assert.ok(issue)
    assert.deepEqual(locateProblem(issue), { path, message })
  }
})

test('inside of a union of objects without a furthest alternative it is the union', () => {
  const schema = z.union([z.object({ a: z.string() }), z.object({ b: z.string() })], 'a or b')
  const [issue] = schema.safeParse({}, { error: describeProblem }).error?.issues ?? []
  assert.ok(issue)
  assert.deepEqual(locateProblem(issue), { path: [], message: 'a or b' })
})

test('inside of a union the alternative of the right kind tells where the problem lies', () => {
  const schema = z.object({ system: z.union([z.string(), blocks]) })
  for (const [system, path, message] of [
    [[{}], ['system', 0, 'type'], 'required'],
    [5, ['system'], 'must be a string or an array'],
  ] as const) {
    const [issue] = schema.safeParse({ system }, { error: describeProblem }).error?.issues ?? []
    assert.ok(issue)
    assert.deepEqual(locateProblem(issue), { path, message })
  }
})
