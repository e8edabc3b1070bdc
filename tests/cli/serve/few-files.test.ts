/** What `serve` says where few files may be open. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { PROGRAM, programEnvironment } from '../../support/processes.ts'
import { untilEnded } from '../../support/until.ts'

const SERVE = [process.execPath, PROGRAM, 'serve', '--port', '0']
/** Nothing listens there: the start ends after its first lines. */
const NO_DATABASE = 'postgres://user:password@127.0.0.1:1/none'

async function startWith(t: TestContext, files: number, settings: NodeJS.ProcessEnv) {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...programEnvironment(),
    ...settings,
    HOME: folder,
    DATA_DIR: join(folder, 'data'),
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    DATABASE_URL: NO_DATABASE,
    SECRET_KEY: randomBytes(32).toString('base64'),
  }
  const child = spawn('sh', ['-c', `ulimit -n ${files}; exec "$0" "$@"`, ...SERVE], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part) => {
      text += part
    })
  }
  await untilEnded(child)
  return text
}

test('serve: a process that may open few files says how many calls it can run', async (t) => {
  const said = await startWith(t, 1_200, {})
  assert.match(said, /no more than about 500 calls .* may open 1200 files .*ulimit -Hn/)
})

test('serve: several workers say it once', async (t) => {
  const said = await startWith(t, 1_200, { WORKERS: '2' })
  assert.equal(said.match(/calls can run at once/g)?.length, 1, said)
})

test('serve: enough files for CALLS_MAX are enough', async (t) => {
  const said = await startWith(t, 1_200, { CALLS_MAX: '500' })
  assert.doesNotMatch(said, /calls can run at once/)
  assert.match(said, /cannot reach the database/, 'the start came past the check')
})
