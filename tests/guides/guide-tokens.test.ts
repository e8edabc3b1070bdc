/** The commands of the guide to access tokens, run as they are printed. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startAdmin } from '../admin/support.ts'

const PATH = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'keys-and-secrets.md')
const commands = [...readFileSync(PATH, 'utf8').matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(
  ([command]) => command,
)

test('a script lists accounts, credits one of them, and reads the proof', async (t) => {
  const stage = await startAdmin()
  t.after(() => stage.stop())
  const { accountId } = await stage.tenant({ balance: '1' })
  const token = await stage.token({ of: 'operator', scope: 'write', isSensitive: true })
  const env = { ...process.env, BASE_URL: stage.url, ACCOUNT_ID: accountId, TOKEN: token }
  const run = async (command: string | undefined) => {
    const { stdout } = await promisify(execFile)('sh', ['-c', command ?? 'exit 1'], { env })
    return JSON.parse(stdout)
  }
  assert.equal(commands.length, 3)
  const [list, credit, proof] = commands
  assert.equal((await run(list)).data[0].id, accountId)
  assert.deepEqual([(await run(credit)).posted, (await run(credit)).posted], [true, false])
  assert.equal((await stage.balance(accountId)).available, 13_500_000_000n)
  assert.equal((await run(proof)).totals[0].topped_up, '13.5')
})
