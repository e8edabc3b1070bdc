/** `reconcile` against a real database: vendors' exports as they are, and what explains a difference. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { type CommandLine, openCommandLine } from './support.ts'

interface Call {
  readonly id: string
  readonly at: string
  readonly model?: string
  /** Nano-units; null is unknown. */
  readonly cost: number | null
  readonly currency?: string
  readonly basis?: string
  readonly status?: string
  readonly lines?: object[]
  readonly attempts?: object[]
}

const NANOS = 1_000_000_000
const tokens = (input: number, cached: number, output: number) =>
  Object.entries({ input_token: input, cached_input_token: cached, output_token: output }).map(
    ([unit, quantity]) => ({ unit, quantity, amount: '0' }),
  )

async function addCalls(sql: Sql, calls: readonly Call[]): Promise<void> {
  await sql`insert into channel (id, upstream) values ('main', 'openai-compatible')
    on conflict do nothing`
  for (const { id, at, model = 'gpt-4o-2024-08-06', cost, lines = [], ...rest } of calls) {
    const attempts = rest.attempts ?? [
      { channel: 'main', upstream_model: model, outcome: 'answered' },
    ]
    await sql`
      insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
        currency, held, charged, returned, lines, attempts, upstream_cost, created_at)
      values (${id}, ${`h_${id}`}, 'a', 'k', 'chat', 'sold', ${rest.status ?? 'succeeded'},
        ${rest.basis ?? 'usage'}, ${rest.currency ?? 'USD'}, 0, 0, 0, ${sql.json(lines as never)},
        ${sql.json(attempts as never)}, ${cost}, ${at})`
  }
}

const bucket = (day: string, results: object[]) => ({
  object: 'bucket',
  start_time: Date.parse(`${day}T00:00:00Z`) / 1_000,
  results,
})
const page = (data: object[], more = {}) => ({ object: 'page', data, has_more: false, ...more })
const cost = (item: string | null, value: number) => ({
  object: 'organization.costs.result',
  line_item: item,
  project_id: null,
  amount: { value, currency: 'usd' },
})

async function open(
  context: Pick<TestContext, 'after'>,
  calls: readonly Call[],
): Promise<CommandLine> {
  const line = await openCommandLine(context)
  assert.equal((await line.run('migrate')).code, 0)
  await addCalls(line.sql, calls)
  return line
}

describe('reconcile', () => {
  let line: CommandLine
  let close: () => unknown = () => undefined
  after(() => close())
  before(async () => {
    const context = {
      after(work?: unknown) {
        if (typeof work === 'function') close = () => work()
      },
    }
    line = await open(context, [
      { id: 'req_a', at: '2026-05-01T10:00:00Z', cost: 2 * NANOS, lines: tokens(700, 300, 50) },
      { id: 'req_b', at: '2026-05-01T11:00:00Z', cost: 1 * NANOS, lines: tokens(100, 0, 10) },
      { id: 'req_late', at: '2026-05-02T00:03:00Z', cost: 0.7 * NANOS },
      { id: 'req_c', at: '2026-05-02T12:00:00Z', cost: 5 * NANOS },
      { id: 'req_part', at: '2026-05-02T13:00:00Z', cost: 0.4 * NANOS, basis: 'partial' },
      { id: 'req_free', at: '2026-05-03T13:00:00Z', cost: null, status: 'lost', basis: 'none' },
      {
        id: 'req_again',
        at: '2026-05-03T14:00:00Z',
        cost: 1 * NANOS,
        attempts: [
          { channel: 'main', upstream_model: 'gpt-4o-2024-08-06', outcome: 'unknown' },
          { channel: 'other', upstream_model: 'gpt-4o', outcome: 'answered' },
        ],
      },
    ])
    await line.sql`insert into uncharged_cost
      (attempt_id, task_id, channel_id, upstream_model, reason, upstream_cost, created_at) values
      ('att_1', 'task_1', 'main', 'gpt-4o-2024-08-06', 'unknown_submit', 250000000,
        '2026-05-03T15:00:00Z')`
  })

  const reconcile = async (name: string, content: object | string, ...words: string[]) => {
    const path = line.file(name, content)
    const { code, out, err } = await line.run(
      'reconcile',
      '--channel',
      'main',
      '--invoice',
      path,
      '--json',
      ...words,
    )
    return { code, err, ...(out ? JSON.parse(out) : {}) }
  }
  const facts = (rows: { day: string; model: string; difference: string; within: boolean }[]) =>
    rows.map(({ day, model, difference, within }) => [day, model, difference, within])

  test('costs by line item agree, and a call at midnight explains what does not', async () => {
    const { code, rows } = await reconcile(
      'costs.json',
      page([
        bucket('2026-05-01', [cost('gpt-4o, input', 3), cost('gpt-4o, output', 0.7)]),
        bucket('2026-05-02', [cost('gpt-4o, input', 5.4)]),
      ]),
    )
    assert.equal(code, 1)
    assert.deepEqual(facts(rows), [
      ['2026-05-01', 'gpt-4o-2024-08-06', '0.7', false],
      ['2026-05-02', 'gpt-4o-2024-08-06', '-0.7', false],
    ])
    assert.deepEqual(rows[0].matching, ['req_late'])
    assert.deepEqual(rows[1].matching, ['req_late'])
    assert.deepEqual(
      rows[1].explanations.map(({ kind, count }: Record<string, unknown>) => [kind, count]),
      [
        ['after_midnight', 1],
        ['uncertain_basis', 1],
      ],
    )
  })

  test('what agrees ends with 0; costs without models are compared by day', async () => {
    const data = [bucket('2026-05-01', [cost(null, 3)]), bucket('2026-05-02', [cost(null, 6.1)])]
    const agreed = await reconcile('day.json', page(data))
    assert.deepEqual([agreed.code, agreed.ok, agreed.currency], [0, true, 'USD'])
    assert.deepEqual(facts(agreed.rows)[0], ['2026-05-01', '*', '0', true])
    const share = await reconcile('day2.json', [page(data)], '--tolerance', '0.1%')
    assert.equal(share.code, 0)
    const only = await reconcile('d.json', page([bucket('2026-05-01', [cost(null, 3.2)])]))
    assert.equal(only.code, 1)
    const wide = ['--tolerance', '0.2']
    assert.equal(
      (await reconcile('d.json', page([bucket('2026-05-01', [cost(null, 3.2)])]), ...wide)).code,
      0,
    )
  })

  test('unknown costs, unanswered attempts and uncharged costs explain what the vendor has more', async () => {
    const { code, rows } = await reconcile(
      'more.json',
      page([bucket('2026-05-03', [cost('gpt-4o-2024-08-06, input', 0.25)])]),
    )
    assert.equal(code, 1)
    const [row] = rows
    assert.deepEqual(
      row.explanations.map(({ kind, calls }: { kind: string; calls: { id: string }[] }) => [
        kind,
        calls.map(({ id }) => id),
      ]),
      [
        ['failed_attempt', ['req_again']],
        ['lost', ['req_free']],
        ['uncharged_cost', ['att_1']],
        ['unknown_cost', ['req_free']],
      ],
    )
    assert.deepEqual(row.matching, ['att_1'])
  })

  test('usage by tokens is compared by input and output', async () => {
    const result = {
      object: 'organization.usage.completions.result',
      model: 'gpt-4o-2024-08-06',
      input_tokens: 1_100,
      input_cached_tokens: 300,
      output_tokens: 60,
      num_model_requests: 2,
    }
    const day = ['--from', '2026-05-01', '--to', '2026-05-02']
    const same = await reconcile('usage.json', page([bucket('2026-05-01', [result])]), ...day)
    assert.deepEqual([same.code, same.compared], [0, 'tokens'])
    assert.deepEqual(same.rows[0].vendor.units.cached_input_token, 300)
    const fewer = { ...result, output_tokens: 50 }
    const less = await reconcile('usage2.json', page([bucket('2026-05-01', [fewer])]), ...day)
    assert.deepEqual([less.code, less.rows[0].difference], [1, -10])
  })

  test('reports with cents in strings and with cache writes are read', async () => {
    const at = { starting_at: '2026-05-01T00:00:00Z', ending_at: '2026-05-02T00:00:00Z' }
    const item = {
      currency: 'USD',
      amount: '300.0',
      model: 'gpt-4o-2024-08-06',
      cost_type: 'tokens',
    }
    const costs = await reconcile('cents.json', { data: [{ ...at, results: [item] }] })
    assert.deepEqual([costs.code, costs.rows[0].vendor.amount], [0, '3'])
    const used = {
      model: 'gpt-4o-2024-08-06',
      uncached_input_tokens: 700,
      cache_read_input_tokens: 300,
      cache_creation: { ephemeral_1h_input_tokens: 60, ephemeral_5m_input_tokens: 40 },
      output_tokens: 60,
      server_tool_use: { web_search_requests: 1 },
    }
    const usage = await reconcile('used.json', { data: [{ ...at, results: [used] }] })
    assert.deepEqual([usage.code, usage.rows[0].vendor.units.cache_write_1h_token], [0, 60])
  })

  test("the bill's days are those of Shanghai, its models are mapped, its fields quoted", async () => {
    await addCalls(line.sql, [
      {
        id: 'req_cn',
        at: '2026-06-01T16:30:00Z',
        cost: 3 * NANOS,
        model: 'doubao-x-250615',
        currency: 'CNY',
      },
    ])
    const bill = [
      '\ufeff账期,消费日期,产品,计费项,配置名称,用量,用量单位,应付金额,币种',
      '2026-06,2026-06-02,火山方舟,输入,"Doubao-X_推理服务_输入",10,千tokens,"2.00",CNY',
      '2026-06,2026-06-02,火山方舟,输出,Doubao-X_推理服务_输出,"1,000",千tokens,1.00,CNY',
    ].join('\r\n')
    const { code, rows, time_zone } = await reconcile('bill.csv', bill)
    assert.deepEqual(
      [code, time_zone, facts(rows)],
      [0, 'Asia/Shanghai', [['2026-06-02', 'doubao-x-250615', '0', true]]],
    )
    const mapped = await reconcile(
      'bill2.csv',
      bill.replaceAll('Doubao-X', 'Y'),
      '--model-map',
      'Y=doubao-x-250615',
    )
    assert.equal(mapped.code, 0)
    const unknown = await reconcile('bill3.csv', bill.replaceAll('Doubao-X', 'Y'))
    assert.deepEqual(facts(unknown.rows), [
      ['2026-06-02', 'Y', '3', false],
      ['2026-06-02', 'doubao-x-250615', '-3', false],
    ])
    assert.deepEqual(unknown.rows[1].matching, ['req_cn'])
  })

  test('any CSV is read by a mapping of its columns', async () => {
    const csv = 'Day,Model,"Cost, total",In\n2026-05-01,gpt-4o-2024-08-06,3,800\n'
    const map = ['--map', 'date=Day,model=Model,input=In']
    const { rows } = await reconcile('plain.csv', csv, ...map)
    assert.equal(rows[0].vendor.units.input_token, 800)
    const wide = await reconcile(
      'plain2.csv',
      csv.replace('"Cost, total"', 'Cost'),
      '--map',
      'date=Day,model=Model,amount=Cost,input=In',
    )
    assert.deepEqual(
      [wide.code, facts(wide.rows)],
      [0, [['2026-05-01', 'gpt-4o-2024-08-06', '0', true]]],
    )
  })

  const broken: readonly [string, string | object, string[], RegExp][] = [
    [
      'a row that is too short',
      'Day,Cost\n2026-05-01,1\n2026-05-02\n',
      ['--map', 'date=Day,amount=Cost'],
      /line 3: 1 fields, the header has 2/,
    ],
    [
      'a day that is none',
      'Day,Cost\n2026-05-41,1\n',
      ['--map', 'date=Day,amount=Cost'],
      /line 2: "2026-05-41" is not a day/,
    ],
    [
      'an amount that is none',
      'Day,Cost\n2026-05-01,much\n',
      ['--map', 'date=Day,amount=Cost'],
      /line 2: "much" is not an amount/,
    ],
    [
      'a quotation mark that stays open',
      'Day,Cost\n2026-05-01,"1\n2026-05-02,1\n',
      ['--map', 'date=Day,amount=Cost'],
      /line 2: a quotation mark is not closed/,
    ],
    [
      'a quotation mark within a field, which is no digit to be left out',
      'Day,Note,Cost\r\n2026-05-01,"a\r\nb",1\r\n2026-05-02,c,1"2\r\n',
      ['--map', 'date=Day,amount=Cost'],
      /line 4: a quotation mark stands within a field/,
    ],
    [
      'a column that is not there',
      'Day,Cost\n',
      ['--map', 'date=Day,amount=Sum'],
      /there is no column Sum: the file has Day, Cost/,
    ],
    ['an unknown format', 'Day,Cost\n', [], /the format is not known.* it has Day, Cost/],
    ['an export that goes on', page([], { has_more: true }), [], /not complete/],
    ['an export that goes on, as a text', page([], { has_more: 'true' }), [], /not complete/],
    [
      'a page that was saved twice',
      [page([]), page([]), page([bucket('2026-05-01', [])]), page([bucket('2026-05-01', [])])],
      [],
      /page 4 repeats page 3/,
    ],
    [
      'a result without figures',
      page([bucket('2026-05-01', [{}])]),
      [],
      /page 1, data\[0\]\.results\[0\]: neither an amount nor tokens/,
    ],
    [
      'two currencies',
      'Day,Cost,Cur\n2026-05-01,1,USD\n2026-05-01,1,EUR\n',
      ['--map', 'date=Day,amount=Cost,currency=Cur'],
      /the export has USD and EUR/,
    ],
    [
      'another currency than ours',
      'Day,Cost,Cur\n2026-05-01,1,EUR\n',
      ['--map', 'date=Day,amount=Cost,currency=Cur'],
      /in EUR, but costs of gpt-4o-2024-08-06 are booked in USD/,
    ],
    ['no row in the range', page([]), [], /no row in this range/],
    ['JSON that is cut', '{"data": [', [], /line 1: not JSON/],
  ]
  for (const [name, content, words, expected] of broken) {
    test(`${name} is refused, with its place`, async () => {
      const { code, err } = await reconcile('broken', content, ...words)
      assert.match(err, expected)
      assert.equal(code, 1)
    })
  }

  test('people get a table and sentences', async () => {
    const path = line.file('t.json', page([bucket('2026-05-01', [cost('gpt-4o, input', 3.7)])]))
    const { out } = await line.run('reconcile', '--channel', 'main', '--invoice', path)
    assert.match(out, /2026-05-01 {2}gpt-4o-2024-08-06 +2 +3\.7 +3 +0\.7 {2}DIFFERS/)
    assert.match(out, /calls within 10 minutes of midnight.* \(1\): req_late \(0\.7\)/)
    assert.match(out, /These add up to it: req_late/)
    const none = await line.run('reconcile', '--channel', 'nobody', '--invoice', path)
    assert.match(none.err, /there is no channel nobody/)
  })
})
