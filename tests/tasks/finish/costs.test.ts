/** Upstream costs of tasks: by the charged usage, or the upper bound for an unknown end. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant, TestAnswer } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { BODY, startTaskStage, type TaskStage } from '../stage.ts'

const TOKENS = 108_900n

interface Kept {
  readonly charged: bigint
  readonly cost: bigint | null
  readonly uncharged: bigint | null
  readonly reason: string | null
}

describe('the cost of a task', { concurrency: false }, () => {
  let stage: TaskStage
  let tenant: Tenant
  before(async () => {
    stage = await startTaskStage()
    tenant = await stage.gateway.tenant({ balance: '10000' })
    const token = (amount: string) => ({ unit: 'output_token', per: 1_000_000, amount })
    const model = (id: string, upstream_model: string, costs: object[], more: object = {}) => ({
      id,
      type: 'video',
      prices: [token('46')],
      routes: [{ channel: 'video', upstream_model, costs }],
      ...more,
    })
    const seconds = [{ unit: 'second', per: 1, amount: '0.3' }]
    const images = [{ unit: 'image', per: 1, amount: '9' }]
    await stage.gateway.apply(
      {
        models: [
          model('costed', 'doubao-seedance-2-0-260128', [
            token('40'),
            { ...token('1'), unit: 'task' },
          ]),
          model('by-the-second', 'doubao-seedance-1-5-pro-251215', seconds),
          model('by-something-else', 'doubao-seedance-2-5-260628', images),
          model('reported', 'doubao-seedance-1-0-pro-250528', [token('40')], {
            free: true,
            prices: [],
          }),
        ],
      },
      'costed',
    )
  })
  after(() => stage.stop())

  async function kept(answer: TestAnswer): Promise<Kept> {
    const id = answer.headers.get('x-request-id') ?? ''
    return until(`the record of ${id}`, async () => {
      const [row] = await stage.gateway.sql<Kept[]>`
        select c.charged, c.upstream_cost as cost, o.upstream_cost as uncharged, o.reason
        from call c left join uncharged_cost o on o.task_id = c.task_id where c.request_id = ${id}`
      return row
    })
  }

  async function run(model: string, status: string): Promise<Kept> {
    const created = await stage.create(tenant, { ...BODY, model })
    assert.equal(created.status, 200, created.text)
    const task = stage.vendor.tasks.get(created.json.upstream_id) ?? assert.fail()
    task.status = status
    return kept(created)
  }

  test('follows the usage of its charge, and counts the task', async () => {
    const { charged, cost } = await run('costed', 'succeeded')
    assert.equal(charged, 46_000n * TOKENS)
    assert.equal(cost, 40_000n * TOKENS + 1_000n)
  })

  test('of a unit that the vendor does not state is that of the parameters', async () => {
    const { cost } = await run('by-the-second', 'succeeded')
    assert.ok(cost !== null && cost > 0n && cost % 300_000_000n === 0n, String(cost))
  })

  test('of a unit without a count is unknown', async () => {
    assert.equal((await run('by-something-else', 'succeeded')).cost, null)
  })

  test('is nothing when it failed, and that of the vendor when it is free', async () => {
    const failed = await run('costed', 'failed')
    assert.deepEqual([failed.charged, failed.cost], [0n, 0n])
    const reported = await run('reported', 'succeeded')
    assert.deepEqual([reported.charged, reported.cost], [0n, 40_000n * TOKENS])
  })

  test('of a lost task is recorded as its upper bound', async () => {
    stage.vendor.loseAnswers(2)
    const body = { ...BODY, model: 'by-the-second' }
    const answers = await Promise.all([stage.create(tenant, body), stage.create(tenant, body)])
    for (const answer of answers) {
      const { charged, cost, uncharged, reason } = await kept(answer)
      assert.deepEqual([charged, cost, reason], [0n, null, 'ambiguous_submit'])
      assert.ok(uncharged !== null && uncharged > 0n && uncharged % 300_000_000n === 0n)
    }
  })
})
