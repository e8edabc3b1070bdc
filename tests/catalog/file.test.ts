/** Catalog files: every mistake is reported with its file and path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CatalogError, parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { channel, model } from './support.ts'

/** Returns the mistakes of a file with this content. */
function mistakes(content: object | string, environment = {}): string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  try {
    parseCatalogFile('shop.json', text, environment)
    return []
  } catch (error) {
    if (error instanceof CatalogError) return error.message.split('\n')
    throw error
  }
}

/** The file's own notation for a variable. */
const place = (name: string) => `\${${name}}`

const withModel = (change: object) => ({ models: [model('a', change)] })
const price = (change: object) =>
  withModel({ prices: [{ unit: 'input_token', per: 1, amount: '1', ...change }] })

test('defaults are filled in', () => {
  const text = JSON.stringify({ channels: [channel('main')], models: [model('a')] })
  const { source, content } = parseCatalogFile('conf/my shop.json', text, {})
  assert.equal(source, 'my-shop')
  assert.equal(content.currency, 'CNY')
  const route = { channel: 'main', upstream_model: 'a', priority: 0, weight: 1 }
  assert.deepEqual(content.models[0]?.routes, [route])
  assert.equal(parseCatalogFile('a.json', '{"source":"b"}', {}).source, 'b')
})

const cases: [string, object | string, RegExp][] = [
  ['broken JSON', '{"models": [', /^shop\.json: not valid JSON: /],
  ['not an object', '[]', /^shop\.json: /],
  ['an unknown field', { modelz: [] }, /^shop\.json: modelz: unknown field$/],
  [
    'half an emoji',
    withModel({ details: { display_name: 'a\ud83d' } }),
    /models\[0\]\.details\.display_name: contains half of a surrogate pair/,
  ],
  ['U+0000', withModel({ 'a\0': 1 }), /models\[0\]: has a member whose name contains U\+0000/],
  ['an unknown model field', withModel({ prize: 1 }), /^shop\.json: models\[0\]\.prize: unknown/],
  ['an unknown price field', price({ pre: 1 }), /models\[0\]\.prices\[0\]\.pre: unknown field$/],
  ['an unknown limit', withModel({ limits: { rpm: 1 } }), /models\[0\]\.limits\.rpm: unknown/],
  ['an unknown type', withModel({ type: 'chta' }), /models\[0\]\.type: /],
  ['a number as amount', price({ amount: 0.15 }), /prices\[0\]\.amount: must be a decimal string/],
  ['a negative amount', price({ amount: '-1' }), /prices\[0\]\.amount: must be a decimal of/],
  ['ten decimals', price({ amount: '0.0000000001' }), /amount: must be a decimal of at most 9/],
  ['an exponent', price({ amount: '1e3' }), /prices\[0\]\.amount: /],
  [
    'tokens without per',
    withModel({ prices: [{ unit: 'output_token', amount: '2.5' }] }),
    /models\[0\]\.prices\[0\]\.per: is missing: write "per": 1000000 if .* buys 1,000,000/,
  ],
  [
    'the cost of characters without per',
    withModel({ routes: [{ channel: 'a', costs: [{ unit: 'character', amount: '1' }] }] }),
    /models\[0\]\.routes\[0\]\.costs\[0\]\.per: is missing/,
  ],
  ['a word as currency', { currency: 'DOL' }, /^shop\.json: currency: must be a currency of ISO/],
  ['no currency', { currency: 'XXX' }, /^shop\.json: currency: must be a currency of ISO/],
  ['per zero', price({ per: 0 }), /models\[0\]\.prices\[0\]\.per: /],
  ['a fraction of per', price({ per: 1.5 }), /models\[0\]\.prices\[0\]\.per: /],
  ['an unknown unit', price({ unit: 'token' }), /models\[0\]\.prices\[0\]\.unit: /],
  ['a unit of another type', price({ unit: 'image' }), /unit: a chat model is billed by input_tok/],
  ['an empty condition', price({ when: {} }), /prices\[0\]\.when: needs a condition/],
  ['an empty range', price({ when: { seconds: {} } }), /when\.seconds: /],
  ['a range upside down', price({ when: { s: { min: 5, below: 5 } } }), /when\.s: /],
  ['an empty list as condition', price({ when: { s: [] } }), /prices\[0\]\.when\.s: /],
  ['a list of lists', price({ when: { s: [[1]] } }), /prices\[0\]\.when\.s\[0\]: must be a string/],
  [
    'a plan after the last year',
    withModel({
      planned_prices: [
        { from: '9999-12-31T23:59:59-12:00', prices: [{ unit: 'call', amount: '1' }] },
      ],
    }),
    /^shop\.json: models\[0\]\.planned_prices\[0\]\.from: must be in the years 0 to 9999 of UTC$/,
  ],
  ['no price', withModel({ prices: [] }), /prices: a model needs a price or "free"/],
  ['a price on a free model', withModel({ free: true }), /prices: a free model has no prices/],
  ['no route', withModel({ routes: [] }), /models\[0\]\.routes: needs at least one route/],
  [
    'a route twice',
    withModel({ routes: [{ channel: 'm' }, { channel: 'm' }] }),
    /routes\[1\]: another route/,
  ],
  ['a weight of zero', withModel({ routes: [{ channel: 'm', weight: 0 }] }), /routes\[0\]\.weight/],
  ['a limit of zero', withModel({ limits: { max_output_tokens: 0 } }), /max_output_tokens: /],
  ['an id with spaces', { models: [model('a b')] }, /models\[0\]\.id: must be 1 to 128/],
  [
    'a currency in words',
    { currency: 'yuan' },
    /^shop\.json: currency: must be a currency of ISO 4217/,
  ],
  [
    'a price that cannot apply',
    withModel({
      prices: [
        { unit: 'call', amount: '1' },
        { unit: 'call', amount: '2', when: { deep: true } },
      ],
    }),
    /prices\[1\]: never applies: prices\[0\] holds for every call/,
  ],
  [
    'a variable that is not set',
    { channels: [channel('m', { base_url: `http://${place('HOST_NAME')}/v1` })] },
    /channels\[0\]\.settings\.base_url: the environment variable HOST_NAME is not set/,
  ],
]

for (const [name, content, expected] of cases) {
  test(`refused: ${name}`, () => assert.match(mistakes(content).join('\n'), expected))
}

test('all mistakes are reported together', () => {
  const found = mistakes({ models: [model('a', { type: 'x' }), model('b', { extra: 1 })], y: 1 })
  assert.equal(found.length, 3)
})

test('variables are replaced in strings, env: references are kept', () => {
  const settings = { base_url: `http://${place('H')}:${place('P')}/`, api_key: 'env:KEY' }
  const text = JSON.stringify({ channels: [channel('m', settings)] })
  const { content } = parseCatalogFile('a.json', text, { H: 'h', P: '1', KEY: 'secret' })
  assert.deepEqual(content.channels[0]?.settings, { base_url: 'http://h:1/', api_key: 'env:KEY' })
})

test('members named __proto__ are unknown fields', () => {
  const polluted =
    '"id":"a","type":"chat","free":true,"routes":[{"channel":"m"}],"__proto__":{"x":1}'
  const found = mistakes(`{"models":[{${polluted}}]}`)
  assert.deepEqual(found, ['shop.json: models[0].__proto__: unknown field'])
})
