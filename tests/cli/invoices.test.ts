/** Vendors' exports with figures, names and times that no vendor should write. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openInvoice } from '../../bin/lib/invoices/open-invoice.ts'
import { addUpBill, compare } from '../../bin/lib/reconcile/compare.ts'
import { OperatorError } from '../../server/base/lib/operator-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-invoices-'))
after(() => rmSync(folder, { recursive: true }))

const MAP = { date: 'Day', model: 'Model', amount: 'Cost', currency: 'Currency' }
const RECORDS = { days: [], units: [] }
const TOLERANCE = { nanos: 0n, share: 0 }
const START = 1_777_593_600

const csv = (cost: string, header = 'Day,Model,Cost,Currency') =>
  `${header}\n2026-05-01,a,${cost},USD`
const page = (result: object, start: unknown = START) => ({
  data: [{ start_time: start, results: [result] }],
  has_more: false,
})
const costs = (value: unknown, currency: unknown = 'usd', item: unknown = 'a, input') =>
  page({ line_item: item, amount: { value, currency } })

/** Returns what the vendor billed, in nano-units, and the models that it names. */
async function read(content: string | object, map?: Readonly<Record<string, string>>) {
  const path = join(folder, 'export')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  const bill = await addUpBill((await openInvoice(path, map)).rows, {})
  const rows = compare(bill, RECORDS, { models: {}, tolerance: TOLERANCE })
  const amount = rows.reduce((sum, { vendor }) => sum + vendor.amount, 0n)
  return { amount, models: rows.map(({ model }) => model) }
}

for (const [cost, nanos] of [
  ['1.5', 1_500_000_000n],
  ['"1,234.5"', 1_234_500_000_000n],
  ['"-1,234,567"', -1_234_567_000_000_000n],
  ['1e-3', 1_000_000n],
  ['', 0n],
] as const) {
  test(`an amount of ${cost || 'nothing'} is read`, async () => {
    assert.equal((await read(csv(cost), MAP)).amount, nanos)
  })
}

for (const cost of [
  '"12,50"',
  '"1.234,56"',
  '"1,2,3"',
  '"1.2,3"',
  '0x10',
  '1e15',
  'NaN',
  '$5',
  '-',
]) {
  test(`an amount of ${cost} is refused`, async () => {
    await assert.rejects(read(csv(cost), MAP), OperatorError)
  })
}

for (const value of [[5], [['5']], {}, true, null, '', '1e99', 1e300]) {
  test(`an amount of ${JSON.stringify(value)} is refused`, async () => {
    await assert.rejects(read(costs(value)), OperatorError)
  })
}

for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
  test(`a model called ${name} is a model`, async () => {
    assert.deepEqual((await read(costs(1, 'usd', `${name}, input`))).models, [name])
  })
}

for (const [title, content] of [
  ['a currency in a list', costs(1, ['usd'])],
  ['a currency that is an object', costs(1, { toString: 1 })],
  ['a currency that no bank knows', costs(1, 'xyz')],
  ['a time in milliseconds', page({ amount: { value: 1, currency: 'usd' } }, START * 1_000)],
  ['a time before our era', page({ amount: { value: 1, currency: 'usd' } }, -62_200_000_000)],
  ['more cached tokens than tokens', page({ input_tokens: 5, input_cached_tokens: 6 })],
  ['a count of blanks', page({ input_tokens: ' ' })],
  ['a count in hexadecimal', page({ input_tokens: '0x10' })],
  ['a count that is no safe number', page({ input_tokens: 1e300 })],
] as const) {
  test(`${title} is refused`, async () => {
    await assert.rejects(read(content), OperatorError)
  })
}

test('a column that appears twice is refused, a decimal comma in a count too', async () => {
  await assert.rejects(read(csv('1,2', 'Day,Model,Cost,Cost,Currency'), MAP), OperatorError)
  const units = { date: 'Day', input_token: 'In' }
  await assert.rejects(read('Day,In\n2026-05-01,"1,5"', units), OperatorError)
})

const table = (separator: string, ...costs: string[]) =>
  [
    ['Day', 'Model', '"Cost, net"', 'Currency'],
    ...costs.map((cost) => ['2026-05-01', 'a', cost, 'EUR']),
  ]
    .map((fields) => fields.join(separator))
    .join('\r\n')
const NET = { ...MAP, amount: 'Cost, net' }

for (const separator of [';', '\t']) {
  for (const [costs, nanos] of [
    [['12,50', '0,125', '3'], 15_625_000_000n],
    [['1.234,5', '-1.234.567,25'], -1_233_332_750_000_000n],
    [['12.50', '0.125', '"1,234.5"'], 1_247_125_000_000n],
  ] as const) {
    test(`amounts of ${costs} between ${JSON.stringify(separator)} are read`, async () => {
      assert.equal((await read(table(separator, ...costs), NET)).amount, nanos)
    })
  }
}

for (const separator of ['\t,', ',\t', '\t;', '\t\t,']) {
  for (const end of ['', '\t']) {
    const named = JSON.stringify(separator)
    test(`tabs beside fields are blanks: ${named} between, ${JSON.stringify(end)} after`, async () => {
      const rows = [Object.values(MAP), ['2026-05-01', 'a', '1.5', 'EUR']]
      const text = rows.map((fields) => `${fields.join(separator)}${end}\r\n`).join('')
      assert.equal((await read(text, MAP)).amount, 1_500_000_000n)
    })
  }
}

test('empty headers and headers in quotes count where tabs separate', async () => {
  for (const header of ['Day\t\t\tCost, net', 'Day\t""\t\t"Cost, net"\t\t']) {
    const width = header.split('\t').length
    const row = ['2026-05-01', '', '', '1.5', '', ''].slice(0, width).join('\t')
    const { amount } = await read(`${header}\n${row}`, { date: 'Day', amount: 'Cost, net' })
    assert.equal(amount, 1_500_000_000n)
  }
})

for (const costs of [['0,5', '1.234'], ['1.5', '0,125'], ['1,2,3'], ['1.2,3'], ['1.23.4,5']]) {
  test(`amounts of ${costs} between semicolons are refused`, async () => {
    await assert.rejects(read(table(';', ...costs), NET), OperatorError)
  })
}

test('a decimal comma between commas is refused as ever, whatever a field has in quotes', async () => {
  const header = '"Day;of;the;bill",Model,Cost,Currency'
  const map = { ...MAP, date: 'Day;of;the;bill' }
  assert.equal((await read(csv('1.5', header), map)).amount, 1_500_000_000n)
  await assert.rejects(read(csv('"12,50"', header), map), OperatorError)
})

test('a range that ends before it begins is refused', async () => {
  const path = join(folder, 'range')
  writeFileSync(path, csv('1'))
  const { rows } = await openInvoice(path, MAP)
  const range = { from: '2026-06-01', to: '2026-05-01' }
  await assert.rejects(addUpBill(rows, range), OperatorError)
})
