/** What a reader has who arrives at the commands of a page: files, people, calls, a bill. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPasswords } from '../../server/api/sign-in/password-hashes.ts'
import { createPerson } from '../../server/api/sign-in/people/people.ts'
import { putMembership } from '../../server/api/sign-in/person-store.ts'
import { newId } from '../../server/base/lib/ids.ts'
import { saveSubject } from '../../server/money/accounts/tokens/subject-store.ts'
import { MONTH, postCalls } from '../archive/support.ts'
import { createCaller } from '../ledger/support.ts'
import { insertDropped } from '../webhooks/support.ts'
import { ROOT, readJsonBlock } from './read-commands.ts'
import type { Stage } from './stage.ts'

type Preparation = (stage: Stage) => Promise<Readonly<Record<string, string>> | undefined>

const HOUR_MS = 3_600_000

/** A day of a vendor's bill on which nothing was bought. */
const BILLED_DAY = {
  object: 'bucket',
  start_time: Date.parse('2026-01-02T00:00:00Z') / 1_000,
  results: [{ line_item: 'gpt-5.4, input', amount: { value: 0, currency: 'usd' } }],
}

/** Each returns what stands in the page for something of the reader's own. */
export const PREPARATIONS: Readonly<Record<string, Preparation>> = {
  async 'README.md'(stage) {
    const { key, accountId } = await stage.tenant()
    stage.write('data/demo.json', { api_key: key, account_id: accountId })
    return undefined
  },
  async 'backup-and-restore.md'() {
    return { 'backups/2026-11-21T03-00-00': 'backups/2026-11-21' }
  },
  async 'call-the-api.md'({ tenant, url }) {
    const { key } = await tenant()
    return { $GATEWAY: url, $KEY: key, 'rerank-v3.5': 'sim-rerank' }
  },
  async 'keys-and-secrets.md'(stage) {
    await sellOwn(stage)
    await addMember(stage, 'kay')
    await stage.run('tributary user create --email demo@example.com --name Demo --operator')
    return {
      'kim@example.com': 'kay@example.com',
      $PERSON: 'demo@example.com',
      $BASE_URL: stage.url,
      $ACCOUNT_ID: stage.accountId,
    }
  },
  async 'media-tasks.md'(stage) {
    const catalog = JSON.parse(readFileSync(join(ROOT, 'catalog', 'fal.json'), 'utf8'))
    const model = JSON.parse(readJsonBlock('docs/guides/media-tasks.md', '"media"'))
    stage.write('my-models.json', { ...catalog, source: 'my-models', models: [model] })
    return { 'npx tributary apply': 'FAL_KEY=a-key npx tributary apply' }
  },
  async 'operate.md'(stage) {
    await sellOwn(stage)
    const [hold] = await postCalls(stage.sql, [await createCaller(stage.sql, 10_000n)], {
      calls: 4,
      charges: [40n, 60n, null, 20n],
    })
    return { '2030-01-07': '2025-01-06', '2030-01': MONTH.name, 'req_…': hold?.request_id ?? '' }
  },
  async 'price-lists.md'(stage) {
    stage.write('prices.json', readJsonBlock('docs/guides/price-lists.md', '"parent": "base"'))
    await stage.run('OPENAI_API_KEY=sk-1 npx tributary apply catalog/openai.json')
    return undefined
  },
  async 'reconcile.md'(stage) {
    await sellOwn(stage)
    await stage.run('OPENAI_API_KEY=sk-1 npx tributary apply catalog/openai.json')
    stage.write('costs.json', { object: 'page', data: [BILLED_DAY], has_more: false })
    stage.write('usage.csv', 'Day,Model,Cost,Currency\n2026-01-02,fast,0,USD\n')
    return undefined
  },
  async 'sign-in.md'(stage) {
    await addMember(stage, 'li')
    return { 'invite --email li@': 'invite --email mo@' }
  },
  async 'tokens-for-agents.md'({ sql, accountId }) {
    await saveSubject(sql, {
      keyId: newId('key'),
      hash: Buffer.from(newId('key')),
      issuer: 'okta',
      subject: '00u1a2b3',
      accountId,
      email: null,
    })
    return undefined
  },
  async 'webhooks.md'(stage) {
    const receiver = 'http://127.0.0.1:1/'
    const [from, to] = [-HOUR_MS, HOUR_MS].map((ms) => new Date(Date.now() + ms).toISOString())
    const delivery = await insertDropped(stage.sql, stage.accountId, receiver)
    return {
      'whd_…': delivery,
      '--url …': `--url ${receiver}`,
      '--from … --to …': `--from ${from} --to ${to}`,
    }
  },
}

/** Adds a person with a role in the reader's account. */
async function addMember({ sql, accountId }: Stage, name: string): Promise<void> {
  const wanted = { email: `${name}@example.com`, name, password: null, isOperator: false }
  const { id } = await createPerson({ sql, passwords: createPasswords() }, wanted)
  await putMembership(sql, { personId: id, accountId, role: 'developer' })
}

/** Sells models of the names that pages use, by a channel of the reader's own. */
function sellOwn({ apply }: Stage): Promise<void> {
  const settings = { base_url: 'http://127.0.0.1:9/v1', api_key: 'sk-1' }
  const prices = ['input_token', 'output_token'].map((unit) => ({ unit, per: 1, amount: '0' }))
  const models = ['fast', 'a', 'b'].map((id) => ({
    id,
    type: 'chat',
    prices,
    routes: [{ channel: 'other' }],
  }))
  const channels = [{ id: 'other', upstream: 'openai-compatible', settings }]
  return apply({ currency: 'USD', channels, models }, 'own')
}
