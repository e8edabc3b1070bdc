/** The smoke test for containers finds a gateway that works, and one that does not. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestGateway } from '../support/in-process.ts'

const SCRIPT = join(import.meta.dirname, '..', '..', 'deploy', 'docker', 'smoke-test.mjs')

async function smoke(...words: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...words])
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  const [code] = await once(child, 'close')
  return { code, out }
}

test('the smoke test makes paid calls and reads their records', async (t) => {
  const gateway = await startTestGateway()
  t.after(() => gateway.stop())
  const rich = await gateway.tenant({ balance: '10' })
  const good = await smoke(gateway.url, rich.key, 'sim-chat')
  for (const line of [/^ok {4}ready$/m, /^ok {4}a call: charged 0\.0/m, /^ok {4}a stream: ch/m]) {
    assert.match(good.out, line)
  }
  const poor = await gateway.tenant({ balance: '0.000000001' })
  const bad = await smoke(gateway.url, poor.key, 'sim-chat')
  assert.equal(bad.code, 1)
  assert.match(bad.out, /^FAIL {2}a call: answered 402: /m)
})
